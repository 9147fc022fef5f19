"""The spectral contrastive loss: positives score high, the squares of negatives stay small."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from counterpoint.framework import ALONE, PartError, Scores, Terms, World
from counterpoint.parts.losses.pair_sums import AnchorNumbers, pair_sums
from counterpoint.parts.losses.reductions import SquareSum


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectral:
    r"""Factorise the graph of which views are of one image (HaoChen et al. 2021).

    $$ \frac{1}{\mu} \Big( -2 s^+ + \frac{1}{N} \sum_- (s^-)^2 \Big) $$

    with N negatives. Vectors have a length of $\sqrt\mu$ at most, so $\mu$ is the bound of the
    scores: `BallDot(mu=1.0)`.

    >>> import torch
    >>> scores = Scores(
    ...     anchors=torch.tensor([[1.0, 0.0]]), candidates=torch.tensor([[0.5, 0.0], [-1.0, 0.0]]),
    ...     anchor_identity=torch.tensor([0]), candidate_identity=torch.tensor([0, 1]),
    ... )
    >>> Spectral().build(1.0)(scores).total  # -2 x 0.5 + 1
    tensor(0.)
    """

    part: ClassVar[Literal["loss"]] = "loss"

    def build(self, bound: float | None) -> "BuiltSpectral":
        if bound is None:
            raise PartError(
                "loss",
                got="scores without a known bound",
                needs="vectors of bounded length: those of positives would grow without end",
                do="use BallDot() or a cosine with a constant tau",
            )
        return BuiltSpectral(bound)


@dataclass(frozen=True, slots=True)
class BuiltSpectral:
    """The loss for vectors of a known greatest length."""

    needs_negatives: ClassVar[bool] = True
    takes_slices: ClassVar[int] = 1

    mu: float

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:  # noqa: ARG002
        return pair_sums(scores, (SquareSum(),)).sum(self._term)

    def _term(self, s: Tensor, numbers: AnchorNumbers) -> Tensor:
        mean = numbers.negatives[0] / numbers.negative_count.clamp(min=1)
        return (mean - 2 * s) / self.mu
