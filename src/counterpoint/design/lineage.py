"""How a method was found: the changes that lead to it from a known one, and what each bought."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from counterpoint.design.candidate import Candidate

Standings = Sequence[Mapping[str, float]]
"""For each rung the standing of every candidate that was run on it, by fingerprint."""
Watched = Sequence[Mapping[str, Mapping[str, float]]]
"""For each rung the figures of every candidate that was run on it, by fingerprint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent:
    """One candidate of a line, and what its change bought."""

    candidate: Candidate
    other: Candidate | None = None
    """The second parent of a crossover, which the line does not follow."""
    rung: int | None = None
    """The highest rung that it and its parent were both run on; None for the first of a line."""
    bought: float | None = None
    """Its standing less its parent's, on that rung."""
    gains: Mapping[str, float] = field(default_factory=dict)
    """The same for each figure that both have there."""


def lineage(
    found: Candidate,
    every: Mapping[str, Candidate],
    standings: Standings,
    watched: Watched = (),
) -> list[Descent]:
    """Return the line from a known method to a candidate, the known method first.

    A crossover has two parents: the line follows the one that came further, by the rung it
    reached and then by its standing there. Standings of two rungs are not compared: they are
    ranks among other candidates, after training of another length.

    >>> from dataclasses import replace
    >>> from counterpoint.methods import simclr_small
    >>> from counterpoint.parts.losses import Triplet
    >>> known = Candidate(method=simclr_small(), training=(), change="simclr-small")
    >>> child = replace(known, method=known.method.swap(loss=Triplet()), change="loss: Triplet()",
    ...     parents=(known.fingerprint,))
    >>> every = {one.fingerprint: one for one in (known, child)}
    >>> line = lineage(child, every, [{known.fingerprint: 0.25, child.fingerprint: 0.75}])
    >>> [(one.candidate.change, one.bought) for one in line]
    [('simclr-small', None), ('loss: Triplet()', 0.5)]
    """
    line: list[tuple[Candidate, Candidate | None]] = []
    here: Candidate | None = found
    while here is not None:
        parents = [every[name] for name in here.parents if name in every]
        ordered = sorted(parents, key=lambda one: _came(one, standings), reverse=True)
        before, other = (*ordered, None, None)[:2]
        line.append((here, other))
        here = before
    line.reverse()
    steps = [
        _descent(one, before, other, standings, watched)
        for (before, _), (one, other) in pairwise(line)
    ]
    return [Descent(candidate=line[0][0]), *steps]


def _came(candidate: Candidate, standings: Standings) -> tuple[int, float]:
    """Return how far a candidate came: the highest rung, and its standing there."""
    name = candidate.fingerprint
    there = [(rung, found[name]) for rung, found in enumerate(standings) if name in found]
    return max(there, default=(-1, 0.0))


def _descent(
    candidate: Candidate,
    before: Candidate,
    other: Candidate | None,
    standings: Standings,
    watched: Watched,
) -> Descent:
    """Compare a candidate with the parent that the line follows, where both were run."""
    one, parent = candidate.fingerprint, before.fingerprint
    shared = [rung for rung, found in enumerate(standings) if one in found and parent in found]
    if not shared:
        return Descent(candidate=candidate, other=other)
    rung = shared[-1]
    mine, theirs = (watched[rung].get(name, {}) if watched else {} for name in (one, parent))
    return Descent(
        candidate=candidate,
        other=other,
        rung=rung,
        bought=standings[rung][one] - standings[rung][parent],
        gains={name: mine[name] - theirs[name] for name in mine if name in theirs},
    )
