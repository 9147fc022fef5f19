"""Scores of a few pairs whose candidates come in slices: the positives, and the hardest negative.

Which negative is the hardest is known after a walk over all slices. Its score, and those of the
positives, are then read in a second one, so that the gradient flows.
"""

from itertools import accumulate
from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.autograd.function import once_differentiable

from counterpoint.framework.precision import without_autocast
from counterpoint.parts.losses.largest import Largest
from counterpoint.parts.losses.slice_plan import SlicePlan
from counterpoint.parts.losses.sliced import Giving, arriving
from counterpoint.parts.losses.tiled import Product


def largest_in_slices(
    anchors: Tensor, local: Tensor, plan: SlicePlan, clip: float | None
) -> Int64[Tensor, " anchor"]:
    """Return the column of each anchor's hardest negative, counted over all walks, or -1."""
    buffers: dict[str, Tensor] = {}
    with without_autocast(anchors.device):
        largest = Largest.start(anchors)
        each = zip(arriving(local, plan.slices), plan.walks, _firsts(plan), strict=True)
        for vectors, walk, first in each:
            largest.look(Product(anchors, vectors, walk, clip, buffers=buffers), first)
    return largest.column


class SlicedDots(torch.autograd.Function):
    """<a_i, c_j> of every positive pair, and of each anchor with one other candidate."""

    @staticmethod
    def forward(
        ctx: Any,
        anchors: Float[Tensor, "anchor channel"],
        local: Float[Tensor, "candidate channel"],
        plan: SlicePlan,
        best: Int64[Tensor, " anchor"],
    ) -> tuple[Tensor, Tensor]:
        positive, hard = [], anchors.new_zeros(len(anchors))
        each = zip(arriving(local, plan.slices), plan.walks, _firsts(plan), strict=True)
        for vectors, walk, first in each:
            pairs, (column, here) = walk.positives, _inside(best, first, len(vectors))
            positive.append((anchors[pairs.anchor] * vectors[pairs.candidate]).sum(dim=1))
            hard += torch.where(here, (anchors * vectors[column]).sum(dim=1), 0.0)
        ctx.save_for_backward(anchors, local, best)
        ctx.plan = plan
        return torch.cat(positive), hard

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        anchors, local, best = ctx.saved_tensors
        plan, wanted = ctx.plan, ctx.needs_input_grad[1]
        giving = Giving(plan.slices, local) if wanted else None
        for_anchors, shares = torch.zeros_like(anchors), plan.of_walks(gradients[0])
        each = zip(arriving(local, plan.slices), plan.walks, _firsts(plan), shares, strict=True)
        for vectors, walk, first, for_positive in each:
            pairs, (column, here) = walk.positives, _inside(best, first, len(vectors))
            pull, hard = for_positive[:, None], torch.where(here, gradients[1], 0.0)[:, None]
            for_anchors.index_add_(0, pairs.anchor, pull * vectors[pairs.candidate])
            for_anchors.add_(hard * vectors[column])
            if giving is not None:
                room = giving.room(vectors)
                room.index_add_(0, pairs.candidate, pull * anchors[pairs.anchor])
                room.index_add_(0, column, hard * anchors)
                giving.send()
        return for_anchors, None if giving is None else giving.end(), None, None


def _firsts(plan: SlicePlan) -> tuple[int, ...]:
    """Return the number of the first column of each walk."""
    return tuple(accumulate(plan.lengths, initial=0))[:-1]


def _inside(best: Tensor, first: int, length: int) -> tuple[Tensor, Tensor]:
    """Return the columns of a walk that are meant, and which of them lie in it."""
    column = best - first
    here = (column >= 0) & (column < length)
    return torch.where(here, column, 0), here
