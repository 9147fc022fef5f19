"""Successive halving: all candidates of a round train for a while, the best of them for longer.

A round that is not halved trains all of them in full: it costs three times the operations of one
that is, and compares nine times as many candidates at the length that matters.
"""

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


def rungs(size: int, full: float, *, halved: bool = True) -> tuple[Rung, ...]:
    """Return the rungs of a round of `size` candidates; `full` is the budget of the last.

    >>> [(rung.number, rung.places, rung.budget.n) for rung in rungs(27, 9e12)]
    [(0, 27, 1000000000000.0), (1, 9, 3000000000000.0), (2, 3, 9000000000000.0)]
    >>> [(rung.number, rung.places, rung.budget.n) for rung in rungs(27, 9e12, halved=False)]
    [(2, 27, 9000000000000.0)]
    """
    if not halved:
        return (Rung(len(SHARES) - 1, Flops(full), size),)
    return tuple(
        Rung(number, Flops(full * share), max(1, size // KEPT**number))
        for number, share in enumerate(SHARES)
    )


def round_cost(size: int, *, halved: bool = True, first: int | None = None) -> float:
    """Return what a round costs, in full trials.

    `first` is how many candidates it begins with, where these are not `size`: the first round of a
    search has all known methods.

    >>> round_cost(27), round_cost(27, halved=False), round_cost(27, halved=False, first=30)
    (9.0, 27.0, 30.0)
    """
    found = rungs(size, 1.0, halved=halved)
    more = 0 if first is None else first - size
    return sum(rung.places * rung.budget.n for rung in found) + more * found[0].budget.n


def promoted(scores: Mapping[str, float], places: int) -> list[str]:
    """Return the fingerprints that go on, best first; what failed or collapsed never does.

    Of two with one score the smaller fingerprint is first, so that there is one answer.

    >>> promoted({"a": 0.1, "b": 0.9, "c": 0.9, "d": -1.0}, 2)
    ['b', 'c']
    """
    alive = [name for name, score in scores.items() if score != LOST]
    return sorted(alive, key=lambda name: (-scores[name], name))[:places]
