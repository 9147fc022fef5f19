"""VICReg: variance, invariance and covariance of features."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F

from counterpoint.framework import ALONE, Scores, Terms, World
from counterpoint.parts.losses.features import (
    centre,
    needs_plain_vectors,
    squares_beside_diagonal,
    two_views,
)

EPS = 1e-4  # facebookresearch/vicreg, main_vicreg.py: inside of the root


@dataclass(frozen=True, slots=True, kw_only=True)
class VICReg:
    r"""Keep variance, remove covariance, bring views together (Bardes et al. 2021, equation 6).

    $$ L = \frac{\lambda}{b d} \sum_n \|u_n - v_n\|^2
       + \sum_{z \in \{u, v\}} \Big[ \frac{\mu}{2 d} \sum_j \max(0, 1 - \sqrt{C_{jj} + \epsilon})
       + \frac{\nu}{d} \sum_{i \ne j} C_{ij}^2 \Big] $$

    where C is the covariance of a view over the batch. The factors are those of the authors' code:
    their paper has no half before the variance. It is outside of the paper's frame: features are
    compared, not images, and there are no scores.

    >>> z = torch.tensor([[-1.0], [1.0]])
    >>> scores = Scores(
    ...     anchors=torch.cat([z, z]), candidates=z, anchor_identity=torch.tensor([0, 1, 0, 1]),
    ...     candidate_identity=torch.arange(2), anchor_views=(2, 2),
    ... )
    >>> VICReg()(scores).total  # the same in both views, and spread far enough
    tensor(0.)
    """

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = False
    anchors_only: ClassVar[bool] = True
    average: ClassVar[str] = "batch"

    invariance: float = 25.0  # facebookresearch/vicreg, main_vicreg.py, --sim-coeff
    variance: float = 25.0  # --std-coeff
    covariance: float = 1.0  # --cov-coeff

    def build(self, bound: float | None) -> "VICReg":
        needs_plain_vectors(bound)
        return self

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:
        first, second = two_views(scores)
        count, width = sum(world.images(len(first))), first.shape[1]
        apart = world.sum((first - second).square().sum()) / (count * width)
        total = self.invariance * apart
        for view in (first, second):
            rows = centre(view, count, world)
            matrix = world.sum(rows.mT @ rows) / max(1, count - 1)
            narrow = F.relu(1 - (matrix.diagonal() + EPS).sqrt()).mean() / 2
            shared = squares_beside_diagonal(matrix) / width
            total = total + self.variance * narrow + self.covariance * shared
        return Terms(total, torch.ones_like(total))
