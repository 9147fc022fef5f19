"""Small third-party parts for tests: unknown to the package, in float64, without batch norm."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from counterpoint.framework import Comparison, Method
from counterpoint.parts.extraction import Pooled
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import HorizontalFlip, Pipeline


@dataclass(frozen=True, slots=True)
class TinyEncoder:
    """Two convolutions, two maps."""

    part: ClassVar[str] = "encoder"
    widths: tuple[int, int] = (4, 6)

    def build(self, views):
        return TinyNet(views[0][0], self.widths)


class TinyNet(nn.Module):
    def __init__(self, channels, widths):
        super().__init__()
        self.first = nn.Conv2d(channels, widths[0], 3, padding=1)
        self.second = nn.Conv2d(widths[0], widths[1], 3, stride=2, padding=1)

    def forward(self, views):
        results = []
        for view in views:
            shallow = self.first(view).tanh()
            results.append((shallow, self.second(shallow).tanh()))
        return tuple(results)


@dataclass(frozen=True, slots=True)
class OneView:
    """The same of the first view only."""

    part: ClassVar[str] = "encoder"

    def build(self, views):
        return OneViewNet(views[0][0], (4, 6))


class OneViewNet(TinyNet):
    def forward(self, views):
        return super().forward(views[:1])


@dataclass(frozen=True, slots=True)
class LastToFirst:
    """Anchors from the last map, candidates from the first: widths may differ."""

    part: ClassVar[str] = "extraction"

    def build(self, maps):
        return self

    def __call__(self, encoded, samples, world):
        anchors, positives = encoded.online[0][-1], encoded.online[1][0]
        return (
            Comparison(
                anchors=anchors.mean(dim=(2, 3)),
                candidates=positives.mean(dim=(2, 3)),
                anchor_identity=samples.index,
                candidate_identity=samples.index,
            ),
        )


def tiny_method(**parts):
    """A method that is small enough for exact comparisons."""
    method = Method(
        views=Pipeline((HorizontalFlip(),)),
        encoder=TinyEncoder(),
        extraction=Pooled(),
        similarity=Cosine(tau=0.2, learn_tau=True),
        loss=NCE(),
    )
    return method.swap(**parts)


def tiny_batch(count, seed=0):
    """Two float64 views of `count` images with their numbers."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.randn(count, 3, 8, 8, generator=generator, dtype=torch.float64)
    noise = 0.3 * torch.randn(count, 3, 8, 8, generator=generator, dtype=torch.float64)
    return (images, images + noise), torch.arange(count) + 1000
