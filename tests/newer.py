"""Losses of newer methods as a user would write them: none is a sum over anchors."""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F

from counterpoint.framework import Terms


@dataclass(frozen=True)
class BarlowTwins:
    """Make the correlation of two views the identity (Zbontar et al. 2021, equation 1)."""

    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = False
    redundancy: float = 5e-3  # facebookresearch/barlowtwins, main.py, --lambd

    def build(self, bound):
        return self

    def __call__(self, scores, world):
        views = scores.anchors_by_view()
        count = sum(world.images(len(views[0])))
        first, second = (standardise(z, count, world) for z in views)
        correlation = world.sum(first.mT @ second) / count
        diagonal = correlation.diagonal()
        rest = correlation.square().sum() - diagonal.square().sum()
        total = (1 - diagonal).square().sum() + self.redundancy * rest
        return Terms(total, torch.ones_like(total))


def standardise(z, count, world):
    """Batch norm without weights, over the images of all ranks."""
    centred = z - world.sum(z.sum(dim=0)) / count
    return centred / (world.sum(centred.square().sum(dim=0)) / count + 1e-5).sqrt()


@dataclass(frozen=True)
class VICReg:
    """Keep variance, remove covariance, bring views together (Bardes et al. 2022, equation 6)."""

    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = False
    invariance: float = 25.0
    variance: float = 25.0
    covariance: float = 1.0

    def build(self, bound):
        return self

    def __call__(self, scores, world):
        first, second = scores.anchors_by_view()
        count = sum(world.images(len(first)))
        apart = world.sum((first - second).square().sum()) / (count * first.shape[1])
        total = self.invariance * apart
        for z in (first, second):
            centred = z - world.sum(z.sum(dim=0)) / count
            matrix = world.sum(centred.mT @ centred) / (count - 1)
            own = matrix.diagonal()
            total = total + self.variance * F.relu(1 - (own + 1e-4).sqrt()).mean() / 2
            rest = matrix.square().sum() - own.square().sum()
            total = total + self.covariance * rest / z.shape[1]
        return Terms(total, torch.ones_like(total))
