"""Decoupled contrastive learning with weights of positives: DCLW."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from counterpoint.framework import ALONE, PartError, Scores, Terms, World
from counterpoint.parts.losses.constant_tau import inverse_tau
from counterpoint.parts.losses.pair_sums import AnchorNumbers, pair_sums
from counterpoint.parts.losses.reductions import LogSumExp


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedPositives:
    r"""Positives that are far apart count more (Yeh et al. 2022, DCLW).

    $$ -w s^+ + \log \sum e^{s^-}, \quad
       w = 2 - \frac{e^{\cos^+ / \sigma}}{\mathrm{mean}\, e^{\cos^+ / \sigma}} $$

    The mean is over the anchors of all ranks, so the mean of w is 1. w is a constant of the
    gradient, as in lightly. The term of an anchor without negatives is 0.

    >>> scores = Scores(
    ...     anchors=torch.tensor([[2.0, 0.0]]), candidates=torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
    ...     anchor_identity=torch.tensor([0]), candidate_identity=torch.tensor([0, 1]),
    ... )
    >>> WeightedPositives().build(2.0)(scores).total  # of one pair w is 1
    tensor(-2.)
    """

    part: ClassVar[Literal["loss"]] = "loss"

    sigma: float = 0.5  # Yeh et al. 2022, section 3.3
    """How much the weights differ: the smaller, the more."""

    def __post_init__(self) -> None:
        if not self.sigma > 0:
            raise PartError("loss", got=f"sigma={self.sigma}", needs="sigma > 0")

    def build(self, bound: float | None) -> "BuiltWeightedPositives":
        return BuiltWeightedPositives(self.sigma, inverse_tau(bound, loss="WeightedPositives"))


@dataclass(frozen=True, slots=True)
class BuiltWeightedPositives:
    """The loss for scores that are cosines over a known tau."""

    needs_negatives: ClassVar[bool] = True
    needs_cosine: ClassVar[bool] = True
    takes_slices: ClassVar[int] = 1

    sigma: float
    bound: float
    """1 / tau."""

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:
        pairs = pair_sums(scores, (LogSumExp(),))
        with torch.no_grad():
            similar = pairs.sum(lambda s, _: self._similarity(s))
            total, count = world.sum(torch.stack([similar.total, similar.count]))
            mean = total / count

        def term(s: Tensor, numbers: AnchorNumbers) -> Tensor:
            weight = 2 - self._similarity(s.detach()) / mean
            terms: Tensor = numbers.negatives[0] - weight * s
            return terms.masked_fill(numbers.negative_count == 0, 0.0)

        return pairs.sum(term)

    def _similarity(self, s: Tensor) -> Tensor:
        """Return e^(cos / sigma), relative to that of two equal vectors."""
        return torch.exp((s / self.bound - 1) / self.sigma)
