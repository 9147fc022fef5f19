r"""What a walk over the scores tells of each anchor's negatives: one number per reduction.

A loss chooses its reductions. Each is a sum over negatives of a function of the score, perhaps
with a logarithm around it, so all of them share the tiles of one walk.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.parts.losses.running_sums import (
    Elements,
    ElementSlope,
    PerAnchor,
    Shifted,
    ShiftedSlope,
    Slope,
    Total,
    scaled,
)

# Below this |s| a sum of exp(s) neither overflows nor loses its smallest terms, for any number
# of candidates up to 10^9: no maximum has to be found and subtracted.
SAFE = {torch.float32: 60.0, torch.float64: 600.0}

LINEAR = 40.0
"""Above this softplus(s) is s in float64: e^-40 is 4e-18."""


@runtime_checkable
class Reduction(Protocol):
    """Settings of a reduction: how it is summed up, and how its gradient is made."""

    left_out: ClassVar[float]
    """What a score becomes that is not a negative: one that adds nothing."""

    def start(self, anchors: Tensor, bound: float, /) -> Total:
        """Begin without a score; |s| is at most `bound`."""

    def slope(self, value: PerAnchor, gradient: PerAnchor, bound: float, /) -> Slope:
        """Return the derivative at the value that the walk gave."""

    def of_rows(
        self, scores: Float[Tensor, "row candidate"], negative: Bool[Tensor, "row candidate"], /
    ) -> Float[Tensor, " row"]:
        """Return the same of some anchors whose scores are all there."""


@dataclass(frozen=True, slots=True)
class LogSumExp:
    r"""log sum exp(scale s) over the negatives; -inf where there are none.

    >>> s, negative = torch.zeros(1, 4), torch.tensor([[False, True, True, True]])
    >>> LogSumExp().of_rows(s, negative).exp()
    tensor([3.])
    """

    left_out: ClassVar[float] = -torch.inf

    scale: float = 1.0

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise PartError("loss", got=f"scale={self.scale}", needs="scale > 0")

    def start(self, anchors: Tensor, bound: float) -> Total:
        total = anchors.new_zeros(len(anchors))
        if self._safe(total, bound):
            return Elements(self._exponential, total, torch.log)
        return Shifted(total, torch.full_like(total, torch.finfo(total.dtype).min), self.scale)

    def slope(self, value: PerAnchor, gradient: PerAnchor, bound: float) -> Slope:
        # No negatives, no gradient: +inf makes every exp(s - inf) zero.
        level = torch.where(value.isinf(), torch.inf, value)
        factor = gradient if self.scale == 1 else gradient * self.scale
        if self._safe(value, bound):
            return ElementSlope(self._exponential, factor * torch.exp(-level))
        return ShiftedSlope(level, factor, self.scale)

    def of_rows(self, scores: Tensor, negative: Tensor) -> Tensor:
        some = negative.any(dim=1)
        kept = (self.scale * scores).masked_fill(~negative, -torch.inf)
        filled = torch.where(some[:, None], kept, 0.0)  # a row of -inf has no gradient
        return filled.logsumexp(dim=1).masked_fill(~some, -torch.inf)

    def _safe(self, like: Tensor, bound: float) -> bool:
        return self.scale * bound < SAFE[like.dtype]

    def _exponential(self, scores: Tensor) -> Tensor:
        return scaled(scores, self.scale).exp_()


@dataclass(frozen=True, slots=True)
class SoftplusSum:
    r"""sum log(1 + exp s) over the negatives: each is a decision of its own, yes or no.

    >>> s, negative = torch.zeros(1, 3), torch.tensor([[False, True, True]])
    >>> SoftplusSum().of_rows(s, negative).exp()
    tensor([4.])
    """

    left_out: ClassVar[float] = -torch.inf

    def start(self, anchors: Tensor, bound: float) -> Total:  # noqa: ARG002 (any scores will do)
        return Elements(softplus, anchors.new_zeros(len(anchors)))

    def slope(self, value: PerAnchor, gradient: PerAnchor, bound: float) -> Slope:  # noqa: ARG002
        return ElementSlope(torch.sigmoid_, gradient)

    def of_rows(self, scores: Tensor, negative: Tensor) -> Tensor:
        return softplus(scores).masked_fill(~negative, 0.0).sum(dim=1)


@dataclass(frozen=True, slots=True)
class SquareSum:
    """sum s^2 over the negatives.

    >>> s, negative = torch.tensor([[9.0, 1.0, 2.0]]), torch.tensor([[False, True, True]])
    >>> SquareSum().of_rows(s, negative)
    tensor([5.])
    """

    left_out: ClassVar[float] = 0.0

    def start(self, anchors: Tensor, bound: float) -> Total:  # noqa: ARG002 (any scores will do)
        return Elements(torch.square, anchors.new_zeros(len(anchors)))

    def slope(self, value: PerAnchor, gradient: PerAnchor, bound: float) -> Slope:  # noqa: ARG002
        return ElementSlope(_itself, 2 * gradient)

    def of_rows(self, scores: Tensor, negative: Tensor) -> Tensor:
        return scores.square().masked_fill(~negative, 0.0).sum(dim=1)


def softplus(scores: Tensor) -> Tensor:
    """Return log(1 + exp s), exactly also for large s.

    >>> softplus(torch.tensor([0.0, 1000.0]))
    tensor([6.9315e-01, 1.0000e+03])
    """
    return F.softplus(scores, threshold=LINEAR)


def _itself(scores: Tensor) -> Tensor:
    return scores
