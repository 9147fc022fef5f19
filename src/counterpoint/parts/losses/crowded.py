"""Anchors with many positives: rows of scores at a time, since a list of pairs would be too long.

With few labels the positive pairs are a fixed share of all n m scores. Here nothing is listed: some
anchors are scored with all candidates, positives are found by their identities on the device, and
the backward pass computes the rows again. Memory is linear in n + m, whatever the identities.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from counterpoint.framework import Scores, Terms
from counterpoint.framework.precision import at_least_fp32, without_autocast
from counterpoint.framework.records import NOBODY
from counterpoint.framework.sending import send_together

PAIRS = 32
"""Positive pairs for each vector that are still listed: all places of a 7 x 7 map have 25."""
AREA = 1 << 20  # scores that are held at once: 4 MB of fp32

Rows = Float[Tensor, "row candidate"]
Mask = Bool[Tensor, "row candidate"]
RowTerms = Callable[[Rows, Mask, Mask], tuple[Tensor, Tensor]]
"""Scores, which are positive and which negative, to the sum of the terms and their count."""


def crowded(scores: Scores) -> bool:
    """Return whether there are more positive pairs than are listed; the host decides alone."""
    whose, theirs = scores.anchor_identity.cpu(), scores.candidate_identity.cpu()
    if not len(whose):
        return False
    known, times = whose.unique(return_counts=True)
    if int(times.max()) <= PAIRS:  # no candidate has more anchors than that
        return False
    place = torch.searchsorted(known, theirs).clamp(max=len(known) - 1)
    pairs = int(times[place[known[place] == theirs]].sum())
    return pairs > PAIRS * (len(whose) + len(theirs))


def by_rows(scores: Scores, terms: RowTerms) -> Terms:
    """Sum a loss that is a sum over anchors, some anchors at a time."""
    anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
    lists = [scores.anchor_identity.cpu(), scores.candidate_identity.cpu()]
    whose, theirs = send_together(lists, anchors.device)
    height = max(1, AREA // len(candidates))
    found = []
    for start in range(0, len(anchors), height):
        rows = slice(start, start + height)
        itself = None if scores.itself is None else scores.itself + start

        def block(
            some: Tensor, every: Tensor, mine: Tensor, itself: int | None
        ) -> tuple[Tensor, Tensor]:
            with without_autocast(some.device):
                s = some @ every.mT
                if scores.clip is not None:
                    s = scores.clip * torch.tanh(s / scores.clip)
                return terms(s, *_masks(mine, theirs, itself))

        given = anchors[rows], candidates, whose[rows], itself
        found.append(checkpoint(block, *given, use_reentrant=False, preserve_rng_state=False))
    totals, counts = zip(*found, strict=True)
    return Terms(torch.stack(totals).sum(), torch.stack(counts).sum().to(anchors.dtype))


def _masks(
    mine: Int64[Tensor, " row"], theirs: Int64[Tensor, " candidate"], itself: int | None
) -> tuple[Mask, Mask]:
    """Return which candidates are positives and which negatives of some anchors."""
    same = mine[:, None] == theirs
    negative = ~same & (theirs >= NOBODY)
    if itself is None:
        return same, negative
    column = torch.arange(len(theirs), device=theirs.device)
    row = torch.arange(itself, itself + len(mine), device=theirs.device)
    return same & (column != row[:, None]), negative
