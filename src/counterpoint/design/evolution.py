"""The next round of a search as a pure function of its seed and of what was found before."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Literal

from counterpoint.design.candidate import Candidate
from counterpoint.design.crossover import (
    crossed,
    parts_that_differ,
    settings_that_differ,
    with_settings_of,
)
from counterpoint.design.judging import LOST
from counterpoint.design.variation import mutated, random_candidate, with_next_rates

Strategy = Literal["evolution", "random"]
Accept = Callable[[Candidate], str | None]
"""None if a candidate may run, else in words why not."""

PARENTS = 27  # candidates that may have children: our choice, a round's worth
TOURNAMENT = 3  # our choice; a larger one is greedier
MUTATION, PARTS = 0.4, 0.2
"""Shares of children with one parent, and with parts of two; the rest has settings of two: our
choice."""
TRIES = 40  # proposals for each place of a round, before it is left empty


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with the highest rung it was run on, and its standing there."""

    candidate: Candidate
    rung: int
    score: float

    @property
    def order(self) -> tuple[int, float, str]:
        """Sorts the best first: by rung, then by standing there, then by fingerprint."""
        return -self.rung, -self.score, self.candidate.fingerprint


@dataclass(frozen=True, slots=True)
class Round:
    """The candidates of a round, and those that were proposed and refused, with the words."""

    candidates: tuple[Candidate, ...]
    refused: tuple[tuple[Candidate, str], ...] = ()
    halved: bool = True
    """Whether only the best train in full, or all of them."""


def next_round(
    seed: int,
    number: int,
    history: Sequence[Judged],
    pool: Sequence[Candidate],
    accept: Accept,
    *,
    size: int,
    seen: Collection[str] = (),
    strategy: Strategy = "evolution",
    halved: bool = True,
    first: Sequence[Candidate] | None = None,
) -> Round:
    """Propose `size` candidates that were not seen before and that `accept` does not refuse.

    Round 0 is the known methods of the pool, all of them, or the candidates of `first`, filled up
    with changes to the known ones. Later rounds are children of the best so far, first the very
    best with other learning rates. A random search draws every candidate at random, from round 0
    on. The same arguments give the same round.
    """
    rng = Random(f"{seed} {number} {strategy}")  # noqa: S311 (no secret: a search that repeats)
    met, taken, refused = set(seen), list[Candidate](), list[tuple[Candidate, str]]()

    def consider(candidate: Candidate) -> None:
        if candidate.fingerprint in met:
            return
        met.add(candidate.fingerprint)
        why = accept(candidate)
        if why is None:
            taken.append(candidate)
        else:
            refused.append((candidate, why))

    if strategy == "random":
        proposed = _random(pool, rng)
    else:
        for one in _sure(number, history, pool if first is None else first):
            if number == 0 or len(taken) < size:
                consider(one)
        proposed = _children(history, pool, rng)
    for candidate in islice(proposed, TRIES * size):
        if len(taken) >= size:
            break
        consider(candidate)
    return Round(tuple(taken), tuple(refused), halved)


def ranked(history: Sequence[Judged]) -> list[Judged]:
    """Return the candidates that did not fail or collapse, the best first."""
    return sorted((one for one in history if one.score != LOST), key=lambda one: one.order)


def _sure(
    number: int, history: Sequence[Judged], first: Sequence[Candidate]
) -> Sequence[Candidate]:
    """Return what a round has whatever is drawn: the first ones, or the best with other rates."""
    if number == 0:
        return first
    return [one for best in ranked(history)[:1] for one in with_next_rates(best.candidate)]


def _random(pool: Sequence[Candidate], rng: Random) -> Iterator[Candidate]:
    while True:
        yield random_candidate(pool, rng)


def _children(
    history: Sequence[Judged], pool: Sequence[Candidate], rng: Random
) -> Iterator[Candidate]:
    """Yield mutations and crossovers of parents that won a tournament."""
    parents = [one.candidate for one in ranked(history)[:PARENTS]]
    while True:
        if not parents:  # round 0, or nothing has lived
            yield mutated(rng.choice(pool), pool, rng)
            continue
        one, other, kind = _winner(parents, rng), _winner(parents, rng), rng.random()
        if kind >= MUTATION + PARTS and settings_that_differ(one, other):
            yield with_settings_of(other, one, rng)
        elif MUTATION <= kind < MUTATION + PARTS and len(parts_that_differ(one, other)) > 1:
            yield crossed(one, other, rng)
        else:
            yield mutated(one, pool, rng)


def _winner(parents: Sequence[Candidate], rng: Random) -> Candidate:
    """Draw a few parents, the best first, and take the best of them."""
    return parents[min(rng.randrange(len(parents)) for _ in range(TOURNAMENT))]
