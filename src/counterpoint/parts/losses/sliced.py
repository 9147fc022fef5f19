"""The walk over candidates that come from the other ranks slice by slice.

While the tiles of a slice are walked the next one travels. The backward pass gathers each slice
again, and sends the gradient of its candidates back while the next is walked. So no more than two
slices are ever held, and two gradients.
"""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from counterpoint.framework.precision import without_autocast
from counterpoint.framework.world import Arrival, Slices
from counterpoint.parts.losses.reductions import Reduction
from counterpoint.parts.losses.slice_plan import SlicePlan
from counterpoint.parts.losses.tiled import Product, Pull, Sums


class Sliced(torch.autograd.Function):
    """Positive scores and the reductions of negative scores, as `Tiled` gives them."""

    @staticmethod
    def forward(
        ctx: Any,
        anchors: Float[Tensor, "anchor channel"],
        local: Float[Tensor, "candidate channel"],
        plan: SlicePlan,
        clip: float | None,
        over: tuple[Reduction, ...],
        bound: float,
    ) -> tuple[Tensor, ...]:
        buffers: dict[str, Tensor] = {}
        with without_autocast(anchors.device):
            sums = Sums.start(over, anchors, bound)
            positive = [
                sums.add(Product(anchors, vectors, walk, clip, buffers))
                for vectors, walk in zip(arriving(local, plan.slices), plan.walks, strict=True)
            ]
            negatives = sums.values()
        ctx.save_for_backward(anchors, local, *negatives)
        ctx.plan, ctx.clip, ctx.over, ctx.bound = plan, clip, over, bound
        return torch.cat(positive), *negatives

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, for_positive: Tensor, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        anchors, local, *negatives = ctx.saved_tensors
        plan, wanted = ctx.plan, ctx.needs_input_grad[1]
        buffers: dict[str, Tensor] = {}
        giving = Giving(plan.slices, local) if wanted else None
        shares = plan.of_walks(for_positive)
        with without_autocast(anchors.device):
            pull = Pull.of(ctx.over, anchors, negatives, gradients, ctx.bound)
            each = zip(arriving(local, plan.slices), plan.walks, shares, strict=True)
            for vectors, walk, share in each:
                product = Product(anchors, vectors, walk, ctx.clip, buffers)
                pull.add(product, share, None if giving is None else giving.room(vectors))
                if giving is not None:
                    giving.send()
        for_local = None if giving is None else giving.end()
        return pull.for_anchors, for_local, None, None, None, None


def arriving(local: Tensor, slices: Slices) -> Iterator[Tensor]:
    """Yield the local candidates, then those of each slice, while the next one travels."""
    under_way = slices.fetch(local, 0)
    yield local
    for number in range(slices.count):
        here = under_way()
        if number + 1 < slices.count:
            under_way = slices.fetch(local, number + 1)
        yield here
        del here


class Giving:
    """The gradient of local candidates, and of slices on their way back to where they were made."""

    def __init__(self, slices: Slices, local: Tensor) -> None:
        self.slices = slices
        self.for_local = torch.zeros_like(local)
        self.number = -1
        self.now: Tensor | None = self.for_local
        self.under_way: tuple[Arrival, slice] | None = None

    def room(self, vectors: Tensor) -> Tensor:
        """Return what the gradient of the candidates that are walked now is added to."""
        if self.number >= 0:
            self.now = torch.zeros_like(vectors)
        assert self.now is not None
        return self.now

    def send(self) -> None:
        """Send back the gradient of the slice that was walked; the local one stays."""
        if self.number >= 0:
            assert self.now is not None
            self._receive()
            there = self.slices.give_back(self.now, self.number)
            self.under_way = there, self.slices.own_rows(self.number)
        self.now = None
        self.number += 1

    def end(self) -> Tensor:
        """Wait for the last slice and return the gradient of the local candidates."""
        self._receive()
        return self.for_local

    def _receive(self) -> None:
        if self.under_way is not None:
            arrive, rows = self.under_way
            self.for_local[rows] += arrive()
            self.under_way = None
