"""One vector per view: the pooled last map."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from counterpoint.framework import Comparison, Encoded, PartError, World
from counterpoint.framework.records import Index, Maps, Shape

Pool = Literal["mean", "max", "flatten"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """Every view is an anchor; every other view is a candidate (SimCLR, BYOL).

    The identity is the image: the other views of an image are its positives.
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    map: int = -1
    """Which map, counted as in the paper: -1 is the last."""
    pool: Pool = "mean"
    """mean: global average, as in the authors' code; flatten: c h w, as the paper writes."""

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

    def __call__(self, encoded: Encoded, index: Index, world: World) -> tuple[Comparison]:
        anchors = self.vectors(encoded.online)
        twin = encoded.target is not encoded.online
        candidates = self.vectors(encoded.target) if twin else anchors
        views = len(encoded.online)

        def identify(index: Tensor) -> Tensor:
            return index.repeat(views)

        identity = identify(index)
        return (
            Comparison(
                anchors=anchors,
                candidates=candidates,
                anchor_identity=identity,
                candidate_identity=identity,
                itself=0,
                everyone=world.everyone(identify),
                anchor_views=(len(index),) * views,
                candidate_views=(len(index),) * views,
            ),
        )

    def vectors(self, views: tuple[Maps, ...]) -> Tensor:
        """Pool the chosen map of every view into one matrix, view after view."""
        return torch.cat([pool_map(maps[self.map], self.pool) for maps in views])


def pool_map(features: Tensor, pool: Pool) -> Tensor:
    """Make one vector of a map.

    >>> pool_map(torch.ones(2, 3, 4, 4), "mean").shape
    torch.Size([2, 3])
    """
    if pool == "mean":
        return features.mean(dim=(2, 3))
    return features.amax(dim=(2, 3)) if pool == "max" else features.flatten(1)
