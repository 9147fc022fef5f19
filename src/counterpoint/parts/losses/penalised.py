"""A loss that also keeps scores small: AMDIM's regulariser."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from counterpoint.framework import ALONE, Loss, PartError, Scores, Terms, World
from counterpoint.framework.contracts import BuiltLoss
from counterpoint.framework.optional import needs_cosine, takes_slices
from counterpoint.framework.precision import at_least_fp32, without_autocast
from counterpoint.framework.world import Slices
from counterpoint.parts.losses.whole_batch import loss_average, mean_over_ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalised:
    r"""Another loss, plus a share of the mean squared score before the clip.

    $$ L + w \, \frac{1}{n m} \sum_{ij} s_{ij}^2, \quad
       \sum_{ij} \langle a_i, c_j \rangle^2 = \langle A^T A, C^T C \rangle, $$

    so that the n x m scores are not needed for it.

    >>> from counterpoint.parts.losses import NCE
    >>> print(Penalised(of=NCE()))
    NCE(numerator='each', denominator='own', average='anchors') + 0.05 mean s^2
    """

    part: ClassVar[Literal["loss"]] = "loss"

    of: Loss
    weight: float = 5e-2  # amdim-public, costs.py; 4e-2 in an earlier version

    def __post_init__(self) -> None:
        if loss_average(self.of) == "positives":
            raise PartError(
                "loss",
                got=f"a penalty on {self.of}",
                needs="a loss that is a mean over anchors, as the penalty is",
                do='set average="anchors"',
            )

    def build(self, bound: float | None) -> "BuiltPenalised":
        return BuiltPenalised(self.of.build(bound), self.weight)

    def __str__(self) -> str:
        return f"{self.of} + {self.weight:g} mean s^2"


@dataclass(frozen=True, slots=True)
class BuiltPenalised:
    """The loss inside, and the weight of the penalty."""

    of: BuiltLoss
    weight: float

    @property
    def needs_negatives(self) -> bool:
        return self.of.needs_negatives

    @property
    def needs_cosine(self) -> bool:
        return needs_cosine(self.of)

    @property
    def average(self) -> str:
        return loss_average(self.of)

    @property
    def takes_slices(self) -> int:
        return takes_slices(self.of)

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:
        terms = self.of(scores, world)
        anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
        if scores.slices is None:
            squares = mean_squares(anchors, candidates)
        else:
            squares = squares_in_slices(anchors, candidates, scores.slices, world)
        if self.average == "batch":
            squares = mean_over_ranks(squares, squares.new_tensor(len(anchors)), world)
        return Terms(terms.total + self.weight * squares, terms.count)


def mean_squares(anchors: Tensor, candidates: Tensor) -> Tensor:
    """Sum over anchors of the mean squared score with all candidates.

    >>> mean_squares(torch.eye(2), torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor(10.)
    """
    with without_autocast(anchors.device):
        squares = (anchors.mT @ anchors) * (candidates.mT @ candidates)
    return torch.sum(squares) / len(candidates)


def squares_in_slices(anchors: Tensor, local: Tensor, slices: Slices, world: World) -> Tensor:
    """Return the same where `local` are this rank's own candidates and those of the past.

    C^T C of all ranks is the sum of theirs: d^2 numbers travel, and no candidate.
    """
    own = slices.own_rows(slices.count - 1).stop
    with without_autocast(anchors.device):
        gram: Tensor = world.sum(local[:own].mT @ local[:own]) + local[own:].mT @ local[own:]
        squares = (anchors.mT @ anchors) * gram
    return torch.sum(squares) / (len(local) + slices.elsewhere)
