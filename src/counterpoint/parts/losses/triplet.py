"""The triplet loss on the hardest pair of each anchor."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from counterpoint.framework import ALONE, PartError, Scores, Terms, World
from counterpoint.parts.losses.crowded import Mask, Rows, by_rows, crowded
from counterpoint.parts.losses.softmax import Summary, hardest


@dataclass(frozen=True, slots=True, kw_only=True)
class Triplet:
    r"""Hinge between the worst positive and the worst negative (Schroff et al. 2015).

    $$ \max(0,\, m - \min s^+ + \max s^-) $$

    with the margin m, over the anchors that have a positive.

    >>> scores = Scores(
    ...     anchors=torch.tensor([[1.0, 0.0]]),
    ...     candidates=torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
    ...     anchor_identity=torch.tensor([0]), candidate_identity=torch.tensor([0, 1]),
    ... )
    >>> Triplet(margin=1.5)(scores).total  # s^+ is 1, s^- is 0
    tensor(0.5000)
    """

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = True
    takes_slices: ClassVar[int] = 2

    margin: float = 1.0
    """How far above the negatives a positive score has to be."""

    def __post_init__(self) -> None:
        if self.margin <= 0:
            raise PartError("loss", got=f"margin={self.margin}", needs="margin > 0")

    def build(self, bound: float | None) -> "Triplet":  # noqa: ARG002 (any scores will do)
        return self

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:  # noqa: ARG002
        if scores.slices is None and crowded(scores):
            return by_rows(scores, self._rows)
        return triplet(hardest(scores), margin=self.margin)

    def _rows(self, s: Rows, positive: Mask, negative: Mask) -> tuple[Tensor, Tensor]:
        """Sum the terms of some anchors, from all of their scores."""
        worst = s.masked_fill(~positive, torch.inf).amin(dim=1)
        best = s.masked_fill(~negative, -torch.inf).amax(dim=1)
        has = positive.any(dim=1)
        gap = torch.where(has, self.margin - worst + best, 0.0)
        return gap.clamp(min=0).sum(), has.sum()


def triplet(summary: Summary, *, margin: float) -> Terms:
    """Sum max(0, margin - min s^+ + max s^-) over the anchors that have a positive.

    >>> from counterpoint.parts.losses.pairs import positive_pairs
    >>> pairs = positive_pairs(torch.tensor([3]), torch.tensor([3]), itself=None)
    >>> close = Summary(torch.tensor([0.9]), pairs, torch.tensor([0.5]))
    >>> triplet(close, margin=1.0).total
    tensor(0.6000)
    """
    pairs = summary.pairs
    worst = summary.positive.new_full((len(summary.negative),), torch.inf)
    worst = worst.scatter_reduce(0, pairs.anchor, summary.positive, "amin")
    gap = pairs.of(margin - worst + summary.negative)
    return Terms(gap.clamp(min=0).sum(), gap.new_full((), pairs.anchors))
