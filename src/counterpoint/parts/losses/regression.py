"""The loss without negatives: predict the other view (BYOL)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from counterpoint.framework import ALONE, PartError, Scores, Terms, World
from counterpoint.parts.losses.crowded import Mask, Rows, by_rows, crowded
from counterpoint.parts.losses.softmax import Summary, positives


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """Squared distance of unit vectors, 2 - 2 cos (Grill et al. 2020, equation 2).

    >>> import torch
    >>> scores = Scores(
    ...     anchors=torch.tensor([[1.0, 0.0]]), candidates=torch.tensor([[0.0, 1.0]]),
    ...     anchor_identity=torch.tensor([7]), candidate_identity=torch.tensor([7]),
    ... )
    >>> Regression()(scores).total  # at a right angle
    tensor(2.)
    """

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = False
    needs_cosine: ClassVar[bool] = True

    def build(self, bound: float | None) -> "Regression":
        if bound != 1.0:
            raise PartError(
                "loss",
                got=f"scores with |s| <= {bound}",
                needs="a plain cosine, |s| <= 1: a score without limit has no minimum",
                do="use a cosine similarity with tau=1",
            )
        return self

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:  # noqa: ARG002
        if crowded(scores):
            return by_rows(scores, _rows)
        return regression(positives(scores))


def _rows(s: Rows, positive: Mask, _negative: Mask) -> tuple[Tensor, Tensor]:
    """Sum the terms of some anchors, from all of their scores."""
    count = positive.sum(dim=1)
    terms = (2 - 2 * s).masked_fill(~positive, 0.0).sum(dim=1) / count.clamp(min=1)
    return terms.sum(), (count > 0).sum()


def regression(summary: Summary) -> Terms:
    """Sum the mean of 2 - 2 s^+ over the positives of each anchor.

    >>> import torch
    >>> from counterpoint.parts.losses.pairs import positive_pairs
    >>> pairs = positive_pairs(torch.tensor([3]), torch.tensor([3]), itself=None)
    >>> regression(Summary(torch.tensor([0.5]), pairs, torch.zeros(1))).total
    tensor(1.)
    """
    pairs = summary.pairs
    terms = (2 - 2 * summary.positive) / pairs.count[pairs.anchor]
    return Terms(terms.sum(), terms.new_full((), pairs.anchors))
