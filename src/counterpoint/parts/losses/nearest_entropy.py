"""A loss that also spreads vectors apart: SSCD's entropy of nearest neighbours."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from counterpoint.framework import ALONE, Loss, PartError, Scores, Terms, World
from counterpoint.framework.contracts import BuiltLoss
from counterpoint.framework.optional import takes_slices
from counterpoint.parts.losses.constant_tau import inverse_tau
from counterpoint.parts.losses.crowded import Mask, Rows, by_rows, crowded
from counterpoint.parts.losses.softmax import hardest
from counterpoint.parts.losses.whole_batch import loss_average, mean_over_ranks

NEAREST = 1e-6  # of a squared distance: sscd-copy-detection, sscd/train.py


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestEntropy:
    r"""Another loss, plus the negative log distance to the nearest negative (Pizzi et al. 2022).

    $$ L - \lambda \log \min_- \lVert a - c^- \rVert,
       \quad \lVert a - c \rVert^2 = 2 - 2 \cos(a, c) $$

    It estimates the differential entropy of the vectors (KoLeo, Sablayrolles et al. 2019), so that
    one threshold of the distance tells copies from other images.

    >>> from counterpoint.parts.losses import NCE
    >>> print(NearestEntropy(of=NCE()))
    NCE(numerator='each', denominator='own', average='anchors') + 30 nearest-neighbour entropy
    """

    part: ClassVar[Literal["loss"]] = "loss"

    of: Loss
    weight: float = 30.0  # sscd-copy-detection, sscd/train.py, --entropy_weight
    """lambda. The authors advise 10 for a new encoder or batch (docs/Training.md)."""

    def __post_init__(self) -> None:
        if loss_average(self.of) == "positives":
            raise PartError(
                "loss",
                got=f"an entropy beside {self.of}",
                needs="a loss that is a mean over anchors, as the entropy is",
                do='set average="anchors"',
            )

    def build(self, bound: float | None) -> "BuiltNearestEntropy":
        inverse = inverse_tau(bound, loss="NearestEntropy")
        return BuiltNearestEntropy(self.of.build(bound), self.weight, inverse)

    def __str__(self) -> str:
        return f"{self.of} + {self.weight:g} nearest-neighbour entropy"


@dataclass(frozen=True, slots=True)
class BuiltNearestEntropy:
    """The loss inside, and the weight of the entropy."""

    needs_negatives: ClassVar[bool] = True
    needs_cosine: ClassVar[bool] = True

    of: BuiltLoss
    weight: float
    bound: float
    """1 / tau."""

    @property
    def average(self) -> str:
        return loss_average(self.of)

    @property
    def takes_slices(self) -> int:
        inside = takes_slices(self.of)
        return inside + 2 if inside else 0

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:
        terms = self.of(scores, world)
        entropy = self._entropy(scores)
        total = entropy.total
        if self.average == "batch":
            total = mean_over_ranks(total, entropy.count, world)
        return Terms(terms.total + self.weight * total, terms.count)

    def _entropy(self, scores: Scores) -> Terms:
        """Sum minus the log distance over the anchors that have a positive."""
        if scores.slices is None and crowded(scores):
            return by_rows(scores, self._rows)
        found = hardest(scores)
        each = found.pairs.of(minus_log_distance(found.negative / self.bound))
        return Terms(each.sum(), each.new_full((), found.pairs.anchors))

    def _rows(self, s: Rows, positive: Mask, negative: Mask) -> tuple[Tensor, Tensor]:
        nearest = s.masked_fill(~negative, -torch.inf).amax(dim=1)
        has = positive.any(dim=1)
        each = minus_log_distance(nearest / self.bound).masked_fill(~has, 0.0)
        return each.sum(), has.sum()


def minus_log_distance(cosine: Tensor) -> Tensor:
    """Return -log of the distance of unit vectors from their cosine; 0 without a neighbour.

    >>> minus_log_distance(torch.tensor([0.5, -torch.inf]))
    tensor([-0., 0.])
    """
    none = cosine.isneginf()
    squared = (2 - 2 * cosine.masked_fill(none, 0.5)).clamp(min=NEAREST)
    return (-0.5 * squared.log()).masked_fill(none, 0.0)
