"""Which candidate is a positive of which anchor, from their identities, without a mask."""

import torch
from jaxtyping import Int64
from torch import Tensor

Rows = Int64[Tensor, " pair"]


def positive_pairs(
    anchor_identity: Int64[Tensor, " anchor"],
    candidate_identity: Int64[Tensor, " candidate"],
    *,
    itself: int | None,
) -> tuple[Rows, Rows]:
    """List (anchor, candidate) of every equal identity, ordered by anchor.

    An anchor is no positive of its own. A sorted join: time (n + m) log m + pairs,
    memory n + m + pairs.

    >>> anchor, candidate = positive_pairs(
    ...     torch.tensor([7, 8]), torch.tensor([8, 9, 7, 8]), itself=None
    ... )
    >>> list(zip(anchor.tolist(), candidate.tolist()))
    [(0, 2), (1, 0), (1, 3)]
    """
    order = candidate_identity.argsort(stable=True)
    ranked = candidate_identity[order]
    first = torch.searchsorted(ranked, anchor_identity)
    count = torch.searchsorted(ranked, anchor_identity, right=True) - first
    anchor = torch.repeat_interleave(count)
    within = torch.arange(len(anchor), device=anchor.device) - (count.cumsum(0) - count)[anchor]
    candidate = order[first[anchor] + within]
    if itself is not None:
        other = candidate != anchor + itself
        anchor, candidate = anchor[other], candidate[other]
    return anchor, candidate
