"""The triplet loss on the hardest pair of each anchor."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from counterpoint.framework import PartError, Scores, Terms
from counterpoint.parts.losses.softmax import Summary, hardest


@dataclass(frozen=True, slots=True, kw_only=True)
class Triplet:
    """Hinge between the worst positive and the worst negative (Schroff et al. 2015)."""

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = True

    margin: float = 1.0
    """How far above the negatives a positive score has to be."""

    def __post_init__(self) -> None:
        if self.margin <= 0:
            raise PartError("loss", got=f"margin={self.margin}", needs="margin > 0")

    def build(self, bound: float | None) -> "Triplet":  # noqa: ARG002 (any scores will do)
        return self

    def __call__(self, scores: Scores) -> Terms:
        return triplet(hardest(scores), margin=self.margin)


def triplet(summary: Summary, *, margin: float) -> Terms:
    """Sum max(0, margin - min s^+ + max s^-) over the anchors that have a positive.

    >>> close = Summary(torch.tensor([0.9]), torch.tensor([0]), torch.tensor([0.5]))
    >>> triplet(close, margin=1.0).total
    tensor(0.6000)
    """
    anchors = len(summary.negative)
    worst = summary.positive.new_full((anchors,), torch.inf)
    worst = worst.scatter_reduce(0, summary.anchor, summary.positive, "amin")
    has = worst.isfinite()
    return Terms((margin - worst + summary.negative)[has].clamp(min=0).sum(), has.sum().to(worst))
