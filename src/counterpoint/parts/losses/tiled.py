"""The arithmetic of the walk: log-sum-exp and maximum over tiles, and their gradients."""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.autograd.function import once_differentiable

from counterpoint.framework.precision import without_autocast
from counterpoint.parts.losses.tiles import Tile, Walk


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """What is walked: two matrices, the plan, the clip, and buffers that tiles are written to."""

    anchors: Float[Tensor, "anchor channel"]
    candidates: Float[Tensor, "candidate channel"]
    walk: Walk
    clip: float | None = None
    safe: bool = False
    """Scores are so small that a sum of exp(s) needs no maximum."""
    buffers: dict[str, Tensor] = field(default_factory=dict)

    def buffer(self, name: str, tile: Tile) -> Tensor:
        """Return room for one tile; the next tile gets the same room."""
        if name not in self.buffers:
            largest = max(height * width for height, width in map(_extent, self.walk.tiles))
            self.buffers[name] = self.anchors.new_empty(largest)
        height, width = _extent(tile)
        return self.buffers[name][: height * width].view(height, width)

    def scores(self, tile: Tile) -> Tensor:
        """Compute the scores of one tile."""
        s = self.buffer("scores", tile)
        torch.mm(self.anchors[tile.rows], self.candidates[tile.columns].T, out=s)
        return s if self.clip is None else s.div_(self.clip).tanh_().mul_(self.clip)


class Tiled(torch.autograd.Function):
    """Positive scores and the log-sum-exp of negative scores, with an exact backward."""

    @staticmethod
    def forward(
        ctx: Any,
        anchors: Float[Tensor, "anchor channel"],
        candidates: Float[Tensor, "candidate channel"],
        walk: Walk,
        clip: float | None,
        safe: bool,  # noqa: FBT001 (autograd functions take positional arguments only)
    ) -> tuple[Tensor, Tensor]:
        with without_autocast(anchors.device):
            positive, negative = _summarise(Product(anchors, candidates, walk, clip, safe))
        ctx.save_for_backward(anchors, candidates, negative)
        ctx.walk, ctx.clip, ctx.safe = walk, clip, safe
        return positive, negative

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        anchors, candidates, negative = ctx.saved_tensors
        product = Product(anchors, candidates, ctx.walk, ctx.clip, ctx.safe)
        with without_autocast(anchors.device):
            pair = _gradients(product, negative, *gradients, candidates=ctx.needs_input_grad[1])
        return *pair, None, None, None


def argmax_negatives(product: Product) -> Int64[Tensor, " anchor"]:
    """Find the negative with the largest score of each anchor; -1 where there is none."""
    peak = product.anchors.new_full((len(product.anchors),), -torch.inf)
    best = torch.full((len(product.anchors),), -1, device=product.anchors.device)

    def keep(value: Tensor, rows: slice, place: Tensor) -> None:
        better = value > peak[rows]
        peak[rows] = torch.where(better, value, peak[rows])
        best[rows] = torch.where(better, place, best[rows])

    for tile in product.walk.tiles:
        s = product.scores(tile)
        _leave_out(s, tile)
        value, place = s.max(dim=1)
        keep(value, tile.rows, place + tile.columns.start)
        if tile.mirror is not None:
            value, place = s.max(dim=0)
            shift = tile.columns.start - tile.mirror.start  # of own vectors among the candidates
            keep(value, tile.mirror, place + tile.rows.start + shift)
    return best


def _summarise(product: Product) -> tuple[Tensor, Tensor]:
    """Walk once: read the positives, sum exp of the rest."""
    positive = product.anchors.new_zeros(len(product.walk.positives.anchor))
    total = product.anchors.new_zeros(len(product.anchors))
    peak = torch.zeros_like(total) if product.safe else torch.full_like(total, _lowest(total))
    for tile in product.walk.tiles:
        s = product.scores(tile)
        if len(tile.pair):
            positive[tile.pair] = s[tile.row, tile.column]
        _leave_out(s, tile)
        if product.safe:
            s.exp_()
            total[tile.rows] += s.sum(dim=1)
            if tile.mirror is not None:
                total[tile.mirror] += s.sum(dim=0)
        else:
            _add_shifted(s, total[tile.rows], peak[tile.rows])
            if tile.mirror is not None:
                _add_shifted(s.T, total[tile.mirror], peak[tile.mirror])
    return positive, total.log() + peak


def _add_shifted(scores: Tensor, total: Tensor, peak: Tensor) -> None:
    """Add exp(scores) to each row's running sum, kept relative to its running maximum."""
    higher = torch.maximum(peak, scores.amax(dim=1))
    total.mul_(torch.exp(peak - higher)).add_((scores - higher[:, None]).exp_().sum(dim=1))
    peak.copy_(higher)


def _gradients(
    product: Product,
    negative: Tensor,
    for_positive: Tensor,
    for_negative: Tensor,
    *,
    candidates: bool,
) -> tuple[Tensor, Tensor | None]:
    """Walk again: give the gradients of the anchors and, where wanted, of the candidates."""
    # No negatives, no gradient: +inf makes every exp(s - inf) zero.
    level = torch.where(negative.isinf(), torch.inf, negative)
    factor = for_negative * torch.exp(-level) if product.safe else for_negative
    for_anchors = torch.zeros_like(product.anchors)
    # Own candidates are the anchors: their gradient goes there, and None is left to return.
    wanted = candidates and any(tile.own is None for tile in product.walk.tiles)
    for_candidates = torch.zeros_like(product.candidates) if wanted else None
    for tile in product.walk.tiles:
        g = _tile_gradient(product, tile, level, factor, for_positive)
        for_anchors[tile.rows].addmm_(g, product.candidates[tile.columns])
        if tile.own is not None:
            for_anchors[tile.own].addmm_(g.T, product.anchors[tile.rows])
        elif for_candidates is not None:
            for_candidates[tile.columns].addmm_(g.T, product.anchors[tile.rows])
    return for_anchors, for_candidates


def _tile_gradient(
    product: Product, tile: Tile, level: Tensor, factor: Tensor, for_positive: Tensor
) -> Tensor:
    """Return dL / d<a_i, c_j> of one tile, and of its mirror image where it stands for both."""
    s = product.scores(tile)
    slope = None
    if product.clip is not None:  # of c tanh(x / c), from its value
        slope = product.buffer("slope", tile)
        torch.div(s, product.clip, out=slope).square_().neg_().add_(1)
    _leave_out(s, tile)
    rows, mirror = tile.rows, tile.mirror
    if product.safe:  # one exponential, also for both: exp(s) (w_i + w_j)
        weight = factor[rows, None]
        if mirror is not None:
            weight = torch.add(weight, factor[None, mirror], out=product.buffer("mirror", tile))
        s.exp_().mul_(weight)
    else:
        other: Tensor | float = 0.0
        if mirror is not None:
            other = torch.sub(s, level[None, mirror], out=product.buffer("mirror", tile))
            other.exp_().mul_(factor[None, mirror])
        s.sub_(level[rows, None]).exp_().mul_(factor[rows, None]).add_(other)
    if len(tile.pair):
        s.index_put_((tile.row, tile.column), for_positive[tile.pair], accumulate=True)
    return s if slope is None else s.mul_(slope)


def _leave_out(scores: Tensor, tile: Tile) -> None:
    """Take positives and the anchors themselves out of the negatives."""
    if len(tile.pair):
        scores[tile.row, tile.column] = -torch.inf
    if tile.diagonal:
        scores.fill_diagonal_(-torch.inf)


def _extent(tile: Tile) -> tuple[int, int]:
    return tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start


def _lowest(like: Tensor) -> float:
    """Return the lowest finite number: a first maximum from which -inf can be subtracted."""
    return torch.finfo(like.dtype).min
