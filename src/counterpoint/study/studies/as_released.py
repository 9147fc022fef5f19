"""AMDIM's comparison as it was released with the paper, with what it does to ResNets.

A file of parts, as a user would write one. In pytorch-lightning-bolts 0.2, losses/
self_supervised_learning.py, `FeatureMapContrastiveTask` takes the last three maps and compares
them by "01, 02, 11". Two things happen with a ResNet that do not with AMDIM's own encoder:

- the maps come shallow to deep, where AMDIM's encoder gives deep to shallow: map 0 is the
  shallowest of the three, so that other pairs are compared than the paper says;
- their channels differ, and `m2.permute(1, 0, 2, 3).reshape(c1, -1)` takes them all the same.
  Of a map with r times the channels of the anchors', image k gets the columns k r P to
  (k + 1) r P of b r P, P places each, which belong to the images k r mod b, k r + 1 mod b, ...
  An anchor's "positives" are features of other images.

That its Bottleneck blocks had no batch norm, and its clip, are not repeated here.
"""

import math
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from counterpoint.framework import Comparison, Encoded, Samples, World
from counterpoint.framework.records import Index, Shape

PAIRS = ((0, 1), (0, 2), (1, 1))  # "01, 02, 11" of the last three maps, as they come


@dataclass(frozen=True, slots=True)
class AsReleased:
    """Anchors of one map against the reshaped vectors of another."""

    part: ClassVar[Literal["extraction"]] = "extraction"

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "AsReleasedExtraction":
        return AsReleasedExtraction(max(shape[0] for shape in maps[0][-3:]))


@dataclass(frozen=True, slots=True)
class AsReleasedExtraction:
    """The comparison; `width` is that of the widest map."""

    width: int

    def __call__(self, encoded: Encoded, samples: Samples, _world: World) -> tuple[Comparison, ...]:
        return tuple(
            self._compare(encoded.online[a][-3:][j], encoded.target[b][-3:][k], samples.index)
            for j, k in PAIRS
            for a, b in permutations(range(2), 2)
        )

    def _compare(self, anchors: Tensor, others: Tensor, index: Index) -> Comparison:
        chosen, candidates = one_place(anchors), reshaped(others, anchors.shape[1])
        return Comparison(
            anchors=self._widened(chosen, scale=True),
            candidates=self._widened(candidates, scale=False),
            anchor_identity=index,
            candidate_identity=index.repeat_interleave(len(candidates) // len(index)),
            weight=0.5,
        )

    def _widened(self, vectors: Tensor, *, scale: bool) -> Tensor:
        """Add zeros up to the widest map, which no dot product notices.

        A similarity divides by the root of the width; the anchors make up for the zeros.
        """
        own = vectors.shape[1]
        larger = math.sqrt(self.width / own) if scale else 1.0
        return F.pad(vectors * larger, (0, self.width - own))


def reshaped(maps: Tensor, channels: int) -> Tensor:
    """List the "vectors" of a map as the released code cuts them, (vector, channels).

    >>> reshaped(torch.zeros(4, 256, 2, 2), 128).shape
    torch.Size([32, 128])
    """
    return maps.permute(1, 0, 2, 3).reshape(channels, -1).mT


def one_place(maps: Tensor) -> Tensor:
    """Draw a place of each image's map; the shell seeds torch for every step."""
    flat = maps.flatten(2)
    rows = torch.arange(len(flat), device=flat.device)
    place = torch.randint(flat.shape[2], (len(flat),), device=flat.device)
    return flat[rows, :, place]
