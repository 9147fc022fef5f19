"""One vector per view: the pooled last map."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor

from counterpoint.framework import Comparison, Encoded, PartError, Samples, World
from counterpoint.framework.records import Maps, Shape
from counterpoint.framework.world import Identify

Pool = Literal["mean", "max", "flatten", "gem"]

GEM, SMALLEST = 3.0, 1e-6  # sscd-copy-detection, models/model.py, --pool_param; gem_pooling.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """Every view is an anchor; every other view is a candidate (SimCLR, BYOL).

    The identity is the image: the other views of an image are its positives.

    >>> from counterpoint.framework import ALONE
    >>> first, second = torch.randn(3, 8, 4, 4), torch.randn(3, 8, 4, 4)
    >>> views = (first,), (second,)
    >>> (compared,) = Pooled()(Encoded(views, views), Samples(torch.arange(3)), ALONE)
    >>> tuple(compared.anchors.shape), compared.anchor_identity.tolist()
    ((6, 8), [0, 1, 2, 0, 1, 2])
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    map: int = -1
    """Which map, counted as in the paper: -1 is the last."""
    pool: Pool = "mean"
    """mean: global average, as in the authors' code; flatten: c h w, as the paper writes; gem: the
    cube root of the mean cube, between mean and max (Radenovic et al. 2018)."""

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "Pooled":
        if len(maps) < 2:
            raise PartError(
                "extraction",
                got=f"{len(maps)} view of each image",
                needs="at least two, an anchor and a positive",
                do="set views=2 in the pipeline",
            )
        found = min(len(view) for view in maps)
        if not -found <= self.map < found:
            raise PartError(
                "extraction", got=f"map={self.map}", needs=f"one of the encoder's {found} maps"
            )
        return self

    def __call__(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        return self.compare(encoded, samples, world, whose=lambda samples: samples.index)

    def compare(
        self, encoded: Encoded, samples: Samples, world: World, *, whose: Identify
    ) -> tuple[Comparison, ...]:
        """Compare all views; `whose` gives the identity of each sample.

        A twin may encode the first views only: anchors of the others are then compared apart,
        each anchor with the same share in the sum.
        """
        count, views, targets = len(samples), len(encoded.online), len(encoded.target)
        anchors = self.vectors(encoded.online)
        twin = encoded.target is not encoded.online
        candidates = self.vectors(encoded.target) if twin else anchors

        def identify(samples: Samples) -> Tensor:
            return whose(samples).repeat(targets)

        identity, everyone = identify(samples), world.everyone(identify)
        same = Comparison(
            anchors=anchors if targets == views else anchors[: targets * count],
            candidates=candidates,
            anchor_identity=identity,
            candidate_identity=identity,
            itself=0,
            weight=targets / views,
            everyone=everyone,
            anchor_views=(count,) * targets,
            candidate_views=(count,) * targets,
        )
        if targets == views:
            return (same,)
        more = views - targets
        rest = replace(
            same,
            anchors=anchors[targets * count :],
            anchor_identity=whose(samples).repeat(more),
            itself=None,
            weight=more / views,
            anchor_views=(count,) * more,
        )
        return same, rest

    def vectors(self, views: tuple[Maps, ...]) -> Tensor:
        """Pool the chosen map of every view into one matrix, view after view."""
        return torch.cat([pool_map(maps[self.map], self.pool) for maps in views])


def pool_map(features: Tensor, pool: Pool) -> Tensor:
    """Make one vector of a map.

    >>> pool_map(torch.ones(2, 3, 4, 4), "mean").shape
    torch.Size([2, 3])
    >>> pool_map(torch.tensor([[[[0.0, 2.0]]]]), "gem")  # the cube root of 4
    tensor([[1.5874]])
    """
    if pool == "mean":
        return features.mean(dim=(2, 3))
    if pool == "gem":
        return features.clamp(min=SMALLEST).pow(GEM).mean(dim=(2, 3)).pow(1 / GEM)
    return features.amax(dim=(2, 3)) if pool == "max" else features.flatten(1)
