"""Losses of newer methods as a user would write them: none is a sum over anchors."""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from counterpoint.framework import Comparison, Terms


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


@dataclass(frozen=True)
class OthersOfTwin:
    """Every view is an anchor, what the twin encodes are candidates, without one's own view."""

    part: ClassVar[str] = "extraction"

    def build(self, maps):
        return self

    def __call__(self, encoded, samples, world):
        found = []
        for view, online in enumerate(encoded.online):
            others = [maps[-1] for other, maps in enumerate(encoded.target) if other != view]
            if others:
                found.append((online[-1], torch.cat(others)))
        return tuple(
            Comparison(
                anchors=anchors.mean(dim=(2, 3)),
                candidates=candidates.mean(dim=(2, 3)),
                anchor_identity=samples.index,
                candidate_identity=samples.index.repeat(len(candidates) // len(anchors)),
                weight=1 / len(found),
            )
            for anchors, candidates in found
        )


@dataclass(frozen=True)
class DINO:
    """Cross-entropy with the centred, sharpened twin (Caron et al. 2021, algorithm 1)."""

    part: ClassVar[str] = "loss"
    student: float = 0.1
    teacher: float = 0.04
    momentum: float = 0.9

    def build(self, bound):
        return BuiltDINO(self)


class BuiltDINO(nn.Module):
    """The centre is the same on every rank; it begins when its width is known."""

    needs_negatives = False

    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.register_buffer("centre", torch.zeros(1))

    def forward(self, scores, world):
        anchors, candidates = scores.anchors, scores.candidates
        targets = ((candidates - self.centre) / self.settings.teacher).softmax(dim=1)
        targets = targets.unflatten(0, (-1, len(anchors))).mean(dim=0)
        terms = -(targets * (anchors / self.settings.student).log_softmax(dim=1)).sum(dim=1)
        if self.training:
            with torch.no_grad():
                count = candidates.new_tensor(float(len(candidates)))
                mean = world.sum(candidates.sum(dim=0)) / world.total(count)
                keep = self.settings.momentum
                self.centre = keep * self.centre + (1 - keep) * mean
        return Terms(terms.sum(), terms.new_tensor(float(len(terms))))
