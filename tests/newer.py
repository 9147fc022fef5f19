"""Losses of newer methods as a user would write them: none is a sum over anchors."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from counterpoint.framework import Comparison, Terms


@dataclass(frozen=True)
class CodingRate:
    """Spread unit vectors over all directions, and keep two views together (Yu et al. 2020)."""

    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = False
    pull: float = 20.0
    distortion: float = 0.2

    def build(self, bound):
        return self

    def __call__(self, scores, world):
        first, second = scores.anchors_by_view()
        count, width = sum(world.images(len(first))), first.shape[1]  # images of all ranks
        total = -self.pull * world.sum((first * second).sum()) / count
        for z in (first, second):
            second_moment = world.sum(z.mT @ z) * width / (count * self.distortion)
            total = total - torch.logdet(second_moment + torch.eye(width).to(z)) / 2
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
