"""Which candidate is a positive of which anchor, from their identities, without a mask."""

from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

Rows = Int64[Tensor, " pair"]


@dataclass(frozen=True, slots=True, eq=False)
class Positives:
    """Anchor and candidate of every positive pair, ordered by anchor."""

    anchor: Rows
    candidate: Rows
    count: Int64[Tensor, " anchor"]
    """How many positives each anchor has."""
    having: Int64[Tensor, " having"] | None
    """The anchors that have one; None where all do."""

    def of(self, values: Tensor) -> Tensor:
        """Take the values of the anchors that have a positive."""
        return values if self.having is None else values[self.having]

    @property
    def anchors(self) -> int:
        """The number of anchors that have a positive."""
        return len(self.count) if self.having is None else len(self.having)

    def lists(self) -> tuple[Tensor, ...]:
        """Return what has to be on the device."""
        having = () if self.having is None else (self.having,)
        return self.anchor, self.candidate, self.count, *having

    @classmethod
    def of_lists(cls, lists: tuple[Tensor, ...]) -> "Positives":
        """Put together what `lists` gave."""
        anchor, candidate, count, *having = lists
        return cls(anchor, candidate, count, having[0] if having else None)


def positives_of(anchor: Rows, candidate: Rows, *, anchors: int) -> Positives:
    """Count the positives of each of N anchors.

    >>> positives_of(torch.tensor([0, 2, 2]), torch.tensor([5, 6, 7]), anchors=3).having
    tensor([0, 2])
    """
    count = torch.bincount(anchor, minlength=anchors)
    having = None if bool(count.all()) else count.nonzero()[:, 0]
    return Positives(anchor, candidate, count, having)


def positive_pairs(
    anchor_identity: Int64[Tensor, " anchor"],
    candidate_identity: Int64[Tensor, " candidate"],
    *,
    itself: int | None,
) -> Positives:
    """List (anchor, candidate) of every equal identity, on the host.

    An anchor is never its own positive. A sorted join of the anchors with those candidates that
    have an anchor's identity: time (n + m) log n + pairs, memory n + m + pairs.

    >>> found = positive_pairs(
    ...     torch.tensor([7, 8]), torch.tensor([8, 9, 7, 8]), itself=None
    ... )
    >>> list(zip(found.anchor.tolist(), found.candidate.tolist()))
    [(0, 2), (1, 0), (1, 3)]
    """
    known, whole = anchor_identity.cpu(), candidate_identity.cpu()
    near = _known_to(known, whole)
    some = whole[near]
    order = some.argsort(stable=True)
    ranked = some[order]
    first = torch.searchsorted(ranked, known)
    count = torch.searchsorted(ranked, known, right=True) - first
    anchor = torch.repeat_interleave(count)
    within = torch.arange(len(anchor)) - (count.cumsum(0) - count)[anchor]
    candidate = near[order[first[anchor] + within]]
    if itself is not None:
        other = candidate != anchor + itself
        anchor, candidate = anchor[other], candidate[other]
    return positives_of(anchor, candidate, anchors=len(known))


def _known_to(anchors: Tensor, candidates: Tensor) -> Tensor:
    """Find the candidates that have the identity of some anchor: few, among those of all ranks."""
    if not len(anchors):
        return torch.arange(0)
    ranked = anchors.unique()
    place = torch.searchsorted(ranked, candidates).clamp(max=len(ranked) - 1)
    found: Tensor = (ranked[place] == candidates).nonzero()[:, 0]
    return found
