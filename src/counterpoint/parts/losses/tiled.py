"""The walk over the tiles of all scores, and the walk back for the gradient."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from counterpoint.framework.precision import without_autocast
from counterpoint.parts.losses.reductions import Reduction
from counterpoint.parts.losses.running_sums import PerAnchor, Slope, Total
from counterpoint.parts.losses.tiles import Tile, Walk


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """What is walked: two matrices, the plan, the clip, and buffers that tiles are written to."""

    anchors: Float[Tensor, "anchor channel"]
    candidates: Float[Tensor, "candidate channel"]
    walk: Walk
    clip: float | None = None
    buffers: dict[str, Tensor] = field(default_factory=dict)

    def buffer(self, name: str, tile: Tile) -> Tensor:
        """Return room for one tile; the next tile gets the same room."""
        height, width = _extent(tile)
        if name not in self.buffers or self.buffers[name].numel() < height * width:
            largest = max(height * width for height, width in map(_extent, self.walk.tiles))
            self.buffers[name] = self.anchors.new_empty(largest)
        return self.buffers[name][: height * width].view(height, width)

    def scores(self, tile: Tile) -> Tensor:
        """Compute the scores of one tile."""
        s = self.buffer("scores", tile)
        torch.mm(self.anchors[tile.rows], self.candidates[tile.columns].T, out=s)
        return s if self.clip is None else s.div_(self.clip).tanh_().mul_(self.clip)

    def copies(self, scores: Tensor, tile: Tile, over: tuple[Reduction, ...]) -> Iterator[Tensor]:
        """Yield the scores once for each reduction, to overwrite; the last has them themselves."""
        for number in range(len(over) - 1):
            yield self.buffer(f"copy {number}", tile).copy_(scores)
        yield scores


class Tiled(torch.autograd.Function):
    """Positive scores and the reductions of negative scores, with an exact backward."""

    @staticmethod
    def forward(
        ctx: Any,
        anchors: Float[Tensor, "anchor channel"],
        candidates: Float[Tensor, "candidate channel"],
        walk: Walk,
        clip: float | None,
        over: tuple[Reduction, ...],
        bound: float,
    ) -> tuple[Tensor, ...]:
        with without_autocast(anchors.device):
            sums = Sums.start(over, anchors, bound)
            positive = sums.add(Product(anchors, candidates, walk, clip))
            negatives = sums.values()
        ctx.save_for_backward(anchors, candidates, *negatives)
        ctx.walk, ctx.clip, ctx.over, ctx.bound = walk, clip, over, bound
        return positive, *negatives

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, for_positive: Tensor, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        anchors, candidates, *negatives = ctx.saved_tensors
        product = Product(anchors, candidates, ctx.walk, ctx.clip)
        with without_autocast(anchors.device):
            pull = Pull.of(ctx.over, anchors, negatives, gradients, ctx.bound)
            # Own candidates are the anchors: their gradient goes there, and None is left to return.
            elsewhere = any(tile.own is None for tile in ctx.walk.tiles)
            wanted = ctx.needs_input_grad[1] and elsewhere
            for_candidates = torch.zeros_like(candidates) if wanted else None
            pull.add(product, for_positive, for_candidates)
        return pull.for_anchors, for_candidates, None, None, None, None


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """All reductions of each anchor's negative scores so far."""

    over: tuple[Reduction, ...]
    totals: tuple[Total, ...]

    @classmethod
    def start(cls, over: tuple[Reduction, ...], anchors: Tensor, bound: float) -> "Sums":
        """Begin with nothing."""
        return cls(over, tuple(one.start(anchors, bound) for one in over))

    def add(self, product: Product) -> Float[Tensor, " pair"]:
        """Walk once: sum up the negatives, and return the scores of the positives."""
        positive = product.anchors.new_zeros(len(product.walk.positives.anchor))
        for tile in product.walk.tiles:
            s = product.scores(tile)
            if len(tile.pair):
                positive[tile.pair] = s[tile.row, tile.column]
            each = zip(self.over, self.totals, product.copies(s, tile, self.over), strict=True)
            for one, total, own in each:
                leave_out(own, tile, one.left_out)
                total.add(own, tile)
        return positive

    def values(self) -> tuple[PerAnchor, ...]:
        """Return the number of each anchor, of each reduction."""
        return tuple(total.value() for total in self.totals)


@dataclass(frozen=True, slots=True, eq=False)
class Pull:
    """The derivatives that the backward walk needs, and the gradient that it adds to."""

    over: tuple[Reduction, ...]
    slopes: tuple[Slope, ...]
    for_anchors: Float[Tensor, "anchor channel"]

    @classmethod
    def of(
        cls,
        over: tuple[Reduction, ...],
        anchors: Tensor,
        negatives: Sequence[PerAnchor],
        gradients: Sequence[PerAnchor],
        bound: float,
    ) -> "Pull":
        """Begin from the reductions and what flows back into them."""
        each = zip(over, negatives, gradients, strict=True)
        slopes = tuple(one.slope(value, gradient, bound) for one, value, gradient in each)
        return cls(over, slopes, torch.zeros_like(anchors))

    def add(self, product: Product, for_positive: Tensor, for_candidates: Tensor | None) -> None:
        """Walk again: add to the gradients of the anchors and, where wanted, of the candidates."""
        for_anchors = self.for_anchors
        for tile in product.walk.tiles:
            g = self._gradient(product, tile, for_positive)
            for_anchors[tile.rows].addmm_(g, product.candidates[tile.columns])
            if tile.own is not None:  # c = J a, so J^T a_i, what flows into a_j, is c_i
                shift = tile.columns.start - tile.own.start
                same = slice(tile.rows.start + shift, tile.rows.stop + shift)
                for_anchors[tile.own].addmm_(g.T, product.candidates[same])
            elif for_candidates is not None:
                for_candidates[tile.columns].addmm_(g.T, product.anchors[tile.rows])

    def _gradient(self, product: Product, tile: Tile, for_positive: Tensor) -> Tensor:
        """Return dL / d<a_i, c_j> of one tile, and of its mirror image where it stands for both."""
        s = product.scores(tile)
        clipped = None
        if product.clip is not None:  # of c tanh(x / c), from its value
            clipped = product.buffer("clipped", tile)
            torch.div(s, product.clip, out=clipped).square_().neg_().add_(1)

        def room() -> Tensor:
            return product.buffer("mirror", tile)

        found: Tensor | None = None
        each = zip(self.over, self.slopes, product.copies(s, tile, self.over), strict=True)
        for one, slope, own in each:
            leave_out(own, tile, one.left_out)
            more = slope.of(own, tile, room)
            found = more if found is None else more.add_(found)
        assert found is not None
        if len(tile.pair):
            found.index_put_((tile.row, tile.column), for_positive[tile.pair], accumulate=True)
        return found if clipped is None else found.mul_(clipped)


def leave_out(scores: Tensor, tile: Tile, value: float) -> None:
    """Write a value that adds nothing over positives and over the anchors themselves."""
    if len(tile.pair):
        scores[tile.row, tile.column] = value
    if tile.quiet is not None:
        scores.index_fill_(1, tile.quiet, value)
    if tile.diagonal:
        scores.fill_diagonal_(value)


def _extent(tile: Tile) -> tuple[int, int]:
    return tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start
