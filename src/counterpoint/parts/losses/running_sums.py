"""Sums over negatives while tiles are walked, and their derivatives on the way back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.parts.losses.tiles import Tile

PerAnchor = Float[Tensor, " anchor"]
Room = Callable[[], Tensor]
"""Gives a tile that may be written to."""


@runtime_checkable
class Total(Protocol):
    """A reduction that is under way."""

    def add(self, scores: Tensor, tile: Tile, /) -> None:
        """Add the scores of a tile, which may be overwritten."""

    def value(self) -> PerAnchor:
        """Return the number of each anchor."""


@runtime_checkable
class Slope(Protocol):
    """The derivative of a reduction, times what flows back into it."""

    def of(self, scores: Tensor, tile: Tile, room: Room, /) -> Tensor:
        """Return the gradient of a tile's scores, in their place."""


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """A sum of a function of each score."""

    function: Callable[[Tensor], Tensor]
    total: PerAnchor
    end: Callable[[Tensor], Tensor] | None = None

    def add(self, scores: Tensor, tile: Tile) -> None:
        each = self.function(scores)
        self.total[tile.rows] += each.sum(dim=1)
        if tile.mirror is not None:
            self.total[tile.mirror] += each.sum(dim=0)

    def value(self) -> PerAnchor:
        return self.total if self.end is None else self.end(self.total)


@dataclass(frozen=True, slots=True, eq=False)
class ElementSlope:
    """The derivative of such a sum; one evaluation also serves the mirror image of a tile."""

    derivative: Callable[[Tensor], Tensor]
    factor: PerAnchor

    def of(self, scores: Tensor, tile: Tile, room: Room) -> Tensor:
        weight = self.factor[tile.rows, None]
        if tile.mirror is not None:
            weight = torch.add(weight, self.factor[None, tile.mirror], out=room())
        return self.derivative(scores).mul_(weight)


@dataclass(frozen=True, slots=True, eq=False)
class Shifted:
    """A sum of exp(scale s), kept relative to the running maximum of each anchor."""

    total: PerAnchor
    peak: PerAnchor
    scale: float

    def add(self, scores: Tensor, tile: Tile) -> None:
        s = scaled(scores, self.scale)
        _add_shifted(s, self.total[tile.rows], self.peak[tile.rows])
        if tile.mirror is not None:
            _add_shifted(s.T, self.total[tile.mirror], self.peak[tile.mirror])

    def value(self) -> PerAnchor:
        return self.total.log() + self.peak


@dataclass(frozen=True, slots=True, eq=False)
class ShiftedSlope:
    """Its derivative: exp(scale s - level)."""

    level: PerAnchor
    factor: PerAnchor
    scale: float

    def of(self, scores: Tensor, tile: Tile, room: Room) -> Tensor:
        s = scaled(scores, self.scale)
        rows, mirror = tile.rows, tile.mirror
        other: Tensor | float = 0.0
        if mirror is not None:
            other = torch.sub(s, self.level[None, mirror], out=room())
            other.exp_().mul_(self.factor[None, mirror])
        return s.sub_(self.level[rows, None]).exp_().mul_(self.factor[rows, None]).add_(other)


def scaled(scores: Tensor, scale: float) -> Tensor:
    """Scale scores in place."""
    return scores if scale == 1 else scores.mul_(scale)


def _add_shifted(scores: Tensor, total: Tensor, peak: Tensor) -> None:
    """Add exp(scores) to each row's running sum, kept relative to its running maximum."""
    higher = torch.maximum(peak, scores.amax(dim=1))
    total.mul_(torch.exp(peak - higher)).add_((scores - higher[:, None]).exp_().sum(dim=1))
    peak.copy_(higher)
