"""Negatives that may be of the anchor's class, and hard ones: debiased and hard-negative losses."""

from dataclasses import dataclass
from math import log, log1p
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework import ALONE, PartError, Scores, Terms, World
from counterpoint.parts.losses.constant_tau import inverse_tau
from counterpoint.parts.losses.pair_sums import AnchorNumbers, pair_sums
from counterpoint.parts.losses.reductions import LogSumExp, softplus

Pairs = Float[Tensor, "..."]


@dataclass(frozen=True, slots=True, kw_only=True)
class HardNegatives:
    r"""Correct the negatives for those of the anchor's own class, and weight the hard ones more.

    $$ -\log \frac{e^{s^+}}{e^{s^+} + g}, \quad
       g = \max\Big( N \frac{h - \rho\, e^{s^+}}{1 - \rho},\; N e^{-1/\tau} \Big), \quad
       h = \frac{\sum e^{(1 + \beta) s^-}}{\sum e^{\beta s^-}} $$

    with N negatives and the share $\rho$ of images that are of the anchor's class. beta 0 is the
    debiased loss (Chuang et al. 2020), beta 1 has hard negatives (Robinson et al. 2021).

    >>> scores = Scores(
    ...     anchors=torch.zeros(1, 2), candidates=torch.zeros(4, 2),
    ...     anchor_identity=torch.tensor([0]), candidate_identity=torch.tensor([0, 1, 2, 3]),
    ... )
    >>> HardNegatives().build(2.0)(scores).total.exp()  # nothing is hard, and nothing is similar
    tensor(4.)
    """

    part: ClassVar[Literal["loss"]] = "loss"

    beta: float = 1.0  # joshr17/HCL, image/main.py, --beta
    """How much the hard negatives count; 0: all count the same."""
    prior: float = 0.1  # chingyaoc/DCL, main.py, and HCL, image/main.py, --tau_plus
    """rho: the share of images that are of the anchor's class."""

    def __post_init__(self) -> None:
        if not (self.beta >= 0 and 0 <= self.prior < 1):
            raise PartError(
                "loss",
                got=f"beta={self.beta}, prior={self.prior}",
                needs="beta of 0 or more, prior from 0 to below 1",
            )

    def build(self, bound: float | None) -> "BuiltHardNegatives":
        return BuiltHardNegatives(self.beta, self.prior, inverse_tau(bound, loss="HardNegatives"))


@dataclass(frozen=True, slots=True)
class BuiltHardNegatives:
    """The loss for scores that are cosines over a known tau."""

    needs_negatives: ClassVar[bool] = True
    needs_cosine: ClassVar[bool] = True
    takes_slices: ClassVar[int] = 1

    beta: float
    prior: float
    bound: float
    """1 / tau."""

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:  # noqa: ARG002
        hard = (LogSumExp(self.beta),) if self.beta else ()
        return pair_sums(scores, (LogSumExp(1 + self.beta), *hard)).sum(self._term)

    def _term(self, s: Tensor, numbers: AnchorNumbers) -> Tensor:
        count, none = numbers.negative_count, numbers.negative_count == 0
        above, *below = (each.masked_fill(none, 0.0) for each in numbers.negatives)
        log_count = count.clamp(min=1).to(s.dtype).log()
        level = above - (below[0] if below else log_count)
        term = softplus(log_count + log_corrected(s, level, self.prior, self.bound) - s)
        return term.masked_fill(none, 0.0)


def log_corrected(s: Pairs, level: Pairs, prior: float, bound: float) -> Pairs:
    r"""Return the logarithm of what is left of e^level, at least e^-bound.

    $$ \log \max\Big(\frac{e^{level} - \rho\, e^{s}}{1 - \rho},\; e^{-1/\tau}\Big) $$

    >>> log_corrected(torch.tensor([0.0]), torch.tensor([0.0]), 0.5, 2.0)
    tensor([0.])
    >>> log_corrected(torch.tensor([2.0]), torch.tensor([-2.0]), 0.1, 2.0)  # the floor
    tensor([-2.])
    """
    top = torch.maximum(s, level).detach()  # so that nothing overflows
    left = torch.exp(level - top) - prior * torch.exp(s - top)
    floor = torch.exp(log1p(-prior) - bound - top)
    enough = left > floor
    corrected = torch.where(enough, left, 1.0).log() + top - log(1 - prior)
    return torch.where(enough, corrected, -bound)
