"""The arithmetic of the walk: log-sum-exp and maximum over tiles, and their gradients."""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.autograd.function import once_differentiable

from counterpoint.parts.losses.tiles import Tile, Walk


class _Scratch:
    """The buffers of one walk: tiles are written over each other."""

    def __init__(self, like: Tensor, plan: Walk) -> None:
        self.like, self.plan = like, plan
        self.buffers: dict[str, Tensor] = {}

    def __call__(self, name: str, tile: Tile) -> Tensor:
        if name not in self.buffers:
            largest = max(height * width for height, width in map(_extent, self.plan.tiles))
            self.buffers[name] = self.like.new_empty(largest)
        height, width = _extent(tile)
        return self.buffers[name][: height * width].view(height, width)


def _extent(tile: Tile) -> tuple[int, int]:
    return tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start


def _score(
    anchors: Tensor, candidates: Tensor, tile: Tile, clip: float | None, out: Tensor
) -> Tensor:
    torch.mm(anchors[tile.rows], candidates[tile.columns].T, out=out)
    return out if clip is None else out.div_(clip).tanh_().mul_(clip)


def _leave_out(scores: Tensor, tile: Tile) -> None:
    """Take positives and the anchors themselves out of the negatives."""
    if len(tile.pair):
        scores[tile.row, tile.column] = -torch.inf
    if tile.diagonal:
        scores.fill_diagonal_(-torch.inf)


def argmax_negatives(
    anchors: Float[Tensor, "anchor channel"],
    candidates: Float[Tensor, "candidate channel"],
    plan: Walk,
) -> Int64[Tensor, " anchor"]:
    """Find the negative with the largest score of each anchor; -1 where there is none."""
    peak = anchors.new_full((len(anchors),), -torch.inf)
    best = torch.full((len(anchors),), -1, device=anchors.device)
    scratch = _Scratch(anchors, plan)

    def keep(value: Tensor, rows: slice, place: Tensor) -> None:
        better = value > peak[rows]
        peak[rows] = torch.where(better, value, peak[rows])
        best[rows] = torch.where(better, place, best[rows])

    with torch.no_grad():
        for tile in plan.tiles:
            # The clip is monotone: it does not change which score is the largest.
            s = _score(anchors, candidates, tile, None, scratch("scores", tile))
            _leave_out(s, tile)
            value, place = s.max(dim=1)
            keep(value, tile.rows, place + tile.columns.start)
            if tile.mirrored and tile.own is not None:
                value, place = s.max(dim=0)
                shift = tile.columns.start - tile.own.start
                keep(value, tile.own, place + tile.rows.start + shift)
    return best


class Tiled(torch.autograd.Function):
    """Positive scores and the log-sum-exp of negative scores, with an exact backward."""

    @staticmethod
    def forward(
        ctx: Any,
        anchors: Float[Tensor, "anchor channel"],
        candidates: Float[Tensor, "candidate channel"],
        plan: Walk,
        clip: float | None,
        safe: bool,  # noqa: FBT001 (autograd functions take positional arguments only)
    ) -> tuple[Tensor, Tensor]:
        scratch = _Scratch(anchors, plan)
        positive = anchors.new_zeros(len(plan.anchor))
        total = anchors.new_zeros(len(anchors))
        peak = total if safe else torch.full_like(total, torch.finfo(total.dtype).min)
        with torch.autocast(anchors.device.type, enabled=False):
            for tile in plan.tiles:
                s = _score(anchors, candidates, tile, clip, scratch("scores", tile))
                if len(tile.pair):
                    positive[tile.pair] = s[tile.row, tile.column]
                _leave_out(s, tile)
                both = tile.own if tile.mirrored else None
                if safe:
                    s.exp_()
                    total[tile.rows] += s.sum(dim=1)
                    if both is not None:
                        total[both] += s.sum(dim=0)
                else:
                    _add_shifted(s, total[tile.rows], peak[tile.rows])
                    if both is not None:
                        _add_shifted(s.T, total[both], peak[both])
        negative = total.log() if safe else total.log() + peak
        ctx.save_for_backward(anchors, candidates, negative)
        ctx.plan, ctx.clip, ctx.safe = plan, clip, safe
        return positive, negative

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        for_positive, for_negative = gradients
        anchors, candidates, negative = ctx.saved_tensors
        # No negatives, no gradient: +inf makes every exp(s - inf) zero.
        level = torch.where(negative.isinf(), torch.inf, negative)
        weight = for_negative * torch.exp(-level) if ctx.safe else for_negative
        for_anchors = torch.zeros_like(anchors)
        owned = all(tile.own is not None for tile in ctx.plan.tiles)
        wanted = ctx.needs_input_grad[1] and not owned
        for_candidates = torch.zeros_like(candidates) if wanted else None
        scratch = _Scratch(anchors, ctx.plan)
        with torch.autocast(anchors.device.type, enabled=False):
            for tile in ctx.plan.tiles:
                g = _score_gradient(
                    ctx, tile, anchors, candidates, weight, level, for_positive, scratch
                )
                for_anchors[tile.rows].addmm_(g, candidates[tile.columns])
                if tile.own is not None:
                    for_anchors[tile.own].addmm_(g.T, anchors[tile.rows])
                elif for_candidates is not None:
                    for_candidates[tile.columns].addmm_(g.T, anchors[tile.rows])
        return for_anchors, for_candidates, None, None, None


def _add_shifted(scores: Tensor, total: Tensor, peak: Tensor) -> None:
    """Add exp(scores) to each row's running sum, kept relative to its running maximum."""
    higher = torch.maximum(peak, scores.amax(dim=1))
    total.mul_(torch.exp(peak - higher)).add_((scores - higher[:, None]).exp_().sum(dim=1))
    peak.copy_(higher)


def _score_gradient(
    ctx: Any,
    tile: Tile,
    anchors: Tensor,
    candidates: Tensor,
    weight: Tensor,
    level: Tensor,
    for_positive: Tensor,
    scratch: _Scratch,
) -> Tensor:
    """Give dL / d<a_i, c_j> of one tile, of its mirror image too where it stands for both."""
    s = _score(anchors, candidates, tile, ctx.clip, scratch("scores", tile))
    slope = None
    if ctx.clip is not None:  # of c tanh(x / c), from its value
        slope = scratch("slope", tile)
        torch.div(s, ctx.clip, out=slope).square_().neg_().add_(1)
    _leave_out(s, tile)
    both = tile.own if tile.mirrored else None
    if ctx.safe and both is None:
        s.exp_().mul_(weight[tile.rows, None])
    elif ctx.safe:
        sums = scratch("weights", tile)
        torch.add(weight[tile.rows, None], weight[None, both], out=sums)
        s.exp_().mul_(sums)
    elif both is None:
        s.sub_(level[tile.rows, None]).exp_().mul_(weight[tile.rows, None])
    else:
        mirror = torch.sub(s, level[None, both], out=scratch("weights", tile))
        mirror.exp_().mul_(weight[None, both])
        s.sub_(level[tile.rows, None]).exp_().mul_(weight[tile.rows, None]).add_(mirror)
    if len(tile.pair):
        s.index_put_((tile.row, tile.column), for_positive[tile.pair], accumulate=True)
    return s if slope is None else s.mul_(slope)
