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
            sums = Sums.start(anchors, safe=safe)
            positive = sums.add(Product(anchors, candidates, walk, clip, safe))
            negative = sums.log()
        ctx.save_for_backward(anchors, candidates, negative)
        ctx.walk, ctx.clip, ctx.safe = walk, clip, safe
        return positive, negative

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        anchors, candidates, negative = ctx.saved_tensors
        product = Product(anchors, candidates, ctx.walk, ctx.clip, ctx.safe)
        with without_autocast(anchors.device):
            pull = Pull.of(anchors, negative, gradients[1], safe=ctx.safe)
            # Own candidates are the anchors: their gradient goes there, and None is left to return.
            elsewhere = any(tile.own is None for tile in ctx.walk.tiles)
            wanted = ctx.needs_input_grad[1] and elsewhere
            for_candidates = torch.zeros_like(candidates) if wanted else None
            pull.add(product, gradients[0], for_candidates)
        return pull.for_anchors, for_candidates, None, None, None


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """The largest negative score of each anchor so far, and the column that it is in."""

    peak: Float[Tensor, " anchor"]
    column: Int64[Tensor, " anchor"]
    """-1 where there is none."""

    @classmethod
    def start(cls, anchors: Tensor) -> "Largest":
        """Begin without a score."""
        peak = anchors.new_full((len(anchors),), -torch.inf)
        return cls(peak, torch.full((len(anchors),), -1, device=anchors.device))

    def look(self, product: Product, first: int = 0) -> None:
        """Walk once; `first` is the number of the product's first column."""
        for tile in product.walk.tiles:
            s = product.scores(tile)
            _leave_out(s, tile)
            value, place = s.max(dim=1)
            self._keep(value, tile.rows, place + (first + tile.columns.start))
            if tile.mirror is not None:
                value, place = s.max(dim=0)
                shift = tile.columns.start - tile.mirror.start  # of own vectors among candidates
                self._keep(value, tile.mirror, place + (first + tile.rows.start + shift))

    def _keep(self, value: Tensor, rows: slice, place: Tensor) -> None:
        better = value > self.peak[rows]
        self.peak[rows] = torch.where(better, value, self.peak[rows])
        self.column[rows] = torch.where(better, place, self.column[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """The sum of exp of each anchor's negative scores so far, relative to its maximum."""

    total: Float[Tensor, " anchor"]
    peak: Float[Tensor, " anchor"]

    @classmethod
    def start(cls, anchors: Tensor, *, safe: bool) -> "Sums":
        """Begin with nothing."""
        total = anchors.new_zeros(len(anchors))
        return cls(
            total, torch.zeros_like(total) if safe else torch.full_like(total, _lowest(total))
        )

    def add(self, product: Product) -> Float[Tensor, " pair"]:
        """Walk once: sum exp of the negatives, and return the scores of the positives."""
        total, peak = self.total, self.peak
        positive = total.new_zeros(len(product.walk.positives.anchor))
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
        return positive

    def log(self) -> Float[Tensor, " anchor"]:
        """Return the log-sum-exp."""
        return self.total.log() + self.peak


def _add_shifted(scores: Tensor, total: Tensor, peak: Tensor) -> None:
    """Add exp(scores) to each row's running sum, kept relative to its running maximum."""
    higher = torch.maximum(peak, scores.amax(dim=1))
    total.mul_(torch.exp(peak - higher)).add_((scores - higher[:, None]).exp_().sum(dim=1))
    peak.copy_(higher)


@dataclass(frozen=True, slots=True, eq=False)
class Pull:
    """What the backward walk needs of every anchor, and the gradient that it adds to."""

    level: Float[Tensor, " anchor"]
    factor: Float[Tensor, " anchor"]
    for_anchors: Float[Tensor, "anchor channel"]

    @classmethod
    def of(cls, anchors: Tensor, negative: Tensor, for_negative: Tensor, *, safe: bool) -> "Pull":
        """Begin from the log-sum-exp of the negatives and its gradient."""
        # No negatives, no gradient: +inf makes every exp(s - inf) zero.
        level = torch.where(negative.isinf(), torch.inf, negative)
        factor = for_negative * torch.exp(-level) if safe else for_negative
        return cls(level, factor, torch.zeros_like(anchors))

    def add(self, product: Product, for_positive: Tensor, for_candidates: Tensor | None) -> None:
        """Walk again: add to the gradients of the anchors and, where wanted, of the candidates."""
        for_anchors = self.for_anchors
        for tile in product.walk.tiles:
            g = _tile_gradient(product, tile, self.level, self.factor, for_positive)
            for_anchors[tile.rows].addmm_(g, product.candidates[tile.columns])
            if tile.own is not None:
                for_anchors[tile.own].addmm_(g.T, product.anchors[tile.rows])
            elif for_candidates is not None:
                for_candidates[tile.columns].addmm_(g.T, product.anchors[tile.rows])


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
    if tile.quiet is not None:
        scores.index_fill_(1, tile.quiet, -torch.inf)
    if tile.diagonal:
        scores.fill_diagonal_(-torch.inf)


def _extent(tile: Tile) -> tuple[int, int]:
    return tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start


def _lowest(like: Tensor) -> float:
    """Return the lowest finite number: a first maximum from which -inf can be subtracted."""
    return torch.finfo(like.dtype).min
