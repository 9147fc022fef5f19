"""Barlow Twins: the correlation of features between two views is the identity."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from counterpoint.framework import ALONE, Scores, Terms, World
from counterpoint.parts.losses.features import (
    Rows,
    centre,
    needs_plain_vectors,
    squares_beside_diagonal,
    two_views,
)

EPS = 1e-5  # of torch's batch norm, by which facebookresearch/barlowtwins, main.py, standardises


@dataclass(frozen=True, slots=True, kw_only=True)
class BarlowTwins:
    r"""Make the correlation of two views the identity (Zbontar et al. 2021, equation 1).

    $$ L = \sum_i (1 - C_{ii})^2 + \lambda \sum_{i \ne j} C_{ij}^2, \quad
       C_{ij} = \frac{1}{b} \sum_n \hat u_{ni} \hat v_{nj} $$

    where each feature of both views, u and v, has mean 0 and deviation 1 over the batch. It is
    outside of the paper's frame: features are compared, not images, and there are no scores.

    >>> z = torch.tensor([[1.0], [3.0]])
    >>> scores = Scores(
    ...     anchors=torch.cat([z, -z]), candidates=z, anchor_identity=torch.tensor([0, 1, 0, 1]),
    ...     candidate_identity=torch.arange(2), anchor_views=(2, 2),
    ... )
    >>> BarlowTwins()(scores).total.round()  # a correlation of -1: (1 + 1)^2
    tensor(4.)
    """

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = False
    anchors_only: ClassVar[bool] = True
    average: ClassVar[str] = "batch"

    redundancy: float = 0.0051  # facebookresearch/barlowtwins, main.py, --lambd
    """What correlations between different features count."""

    def build(self, bound: float | None) -> "BarlowTwins":
        needs_plain_vectors(bound)
        return self

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:
        first, second = two_views(scores)
        count = sum(world.images(len(first)))
        one, other = (standardise(z, count, world) for z in (first, second))
        correlation = world.sum(one.mT @ other) / count
        on = (1 - correlation.diagonal()).square().sum()
        total = on + self.redundancy * squares_beside_diagonal(correlation)
        return Terms(total, torch.ones_like(total))


def standardise(rows: Rows, count: int, world: World) -> Rows:
    """Give each feature mean 0 and deviation 1 over the `count` images of all ranks.

    >>> standardise(torch.tensor([[1.0], [3.0]]), 2, ALONE).round(decimals=3)
    tensor([[-1.],
            [ 1.]])
    """
    centred = centre(rows, count, world)
    return centred / (world.sum(centred.square().sum(dim=0)) / count + EPS).sqrt()
