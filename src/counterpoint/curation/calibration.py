"""What the recorded copies say: how near a copy is, and which kinds are found within a radius."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from counterpoint.curation.chance import ChanceLaw, chance_law
from counterpoint.curation.locality import distance, local_scales
from counterpoint.curation.neighbourhoods import Rooms, directions
from counterpoint.vectors.copies import COPY_KINDS

ASIDE = 0.5  # nothing farther is set aside by copies: chance pairs would be
LAW = 100_000  # images that the law of chance is fitted to; more change it little


@dataclass(frozen=True, slots=True, eq=False)
class CopyDistances:
    """Scaled distances of copies to their originals."""

    kind: Int64[Tensor, " copy"]
    """Its place among the kinds of copies."""
    distance: Float64[Tensor, " copy"]
    looked: Float64[Tensor, " copy"]
    """1 where the original is in a cell that the copy is compared with."""

    def recall(self, radius: float) -> dict[str, float]:
        """Return the share of the copies of each kind that are found within a radius."""
        found = ((self.distance <= radius) & (self.looked > 0)).double()
        kinds = [n for n in range(len(COPY_KINDS)) if bool((self.kind == n).any())]
        return {COPY_KINDS[n]: float(found[self.kind == n].mean()) for n in kinds}


def measured_copies(
    room: Rooms,
    scales: Float[Tensor, " vector"],
    rows: Int64[Tensor, " copy"],
    copies: Int64[Tensor, " copy"],
    vectors: Float[Tensor, "copy feature"],
) -> CopyDistances:
    """Measure copies as if they were among the images; `rows` are their originals."""
    near = room.nearest(vectors, rows)
    own = local_scales(near.cosine)
    cosine = (directions(vectors) * directions(room.vectors[rows])).sum(dim=1)
    cells = room.looked[room.place(vectors)]
    looked = (cells == room.place(room.vectors[rows])[:, None]).any(dim=1)
    found = distance(cosine) / (own * scales[rows]).sqrt()
    return CopyDistances(copies % len(COPY_KINDS), found.double(), looked.double())


def half_of_copies(positives: CopyDistances | None) -> float:
    """Return the radius within which half of the copies lie: pairs so near are set aside.

    Without copies nothing is set aside, and bursts of copies are taken for chance.
    """
    return 0.0 if positives is None else min(ASIDE, float(positives.distance.median()))


def law_of(lists: Float[Tensor, "image near"], *, aside: float, seed: int = 0) -> ChanceLaw:
    """Fit the law of chance to some of the images."""
    if len(lists) > LAW:
        generator = torch.Generator().manual_seed(seed)
        lists = lists[torch.randperm(len(lists), generator=generator)[:LAW]]
    return chance_law(lists.double(), aside=aside)
