"""Successive halving: all candidates of a round train for a while, the best of them for longer."""

from collections.abc import Mapping
from dataclasses import dataclass

from counterpoint.design.judging import LOST
from counterpoint.study.budget import Flops

SHARES = (1 / 9, 1 / 3, 1.0)
"""Of the full budget, rung by rung: factors of three, as in Jamieson and Talwalkar 2016."""
KEPT = 3
"""One in three candidates advances to the next rung, so that each rung costs about the same."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A length of training, and how many candidates of a round get that far.

    Every rung is a trial from the beginning with a schedule of its own length. To continue the
    trial of the rung before would be cheaper by 1/9 + 1/3 of a full trial, and would judge
    candidates in the middle of a cosine, where those that learn early look best.
    """

    number: int
    budget: Flops
    places: int


def rungs(size: int, full: float) -> tuple[Rung, ...]:
    """Return the rungs of a round of `size` candidates; `full` is the budget of the last.

    >>> [(rung.places, rung.budget.n) for rung in rungs(27, 9e12)]
    [(27, 1000000000000.0), (9, 3000000000000.0), (3, 9000000000000.0)]
    """
    return tuple(
        Rung(number, Flops(full * share), max(1, size // KEPT**number))
        for number, share in enumerate(SHARES)
    )


def round_cost(size: int) -> float:
    """Return what a round costs, in full trials.

    >>> round_cost(27)
    9.0
    """
    return sum(rung.places * rung.budget.n for rung in rungs(size, 1.0))


def promoted(scores: Mapping[str, float], places: int) -> list[str]:
    """Return the fingerprints that go on, best first; what failed or collapsed never does.

    Of two with one score the smaller fingerprint is first, so that there is one answer.

    >>> promoted({"a": 0.1, "b": 0.9, "c": 0.9, "d": -1.0}, 2)
    ['b', 'c']
    """
    alive = [name for name, score in scores.items() if score != LOST]
    return sorted(alive, key=lambda name: (-scores[name], name))[:places]
