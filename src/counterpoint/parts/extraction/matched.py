"""Places against the places that match them best in the other view (DenseCL)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import Comparison, Encoded, PartError, Samples, World
from counterpoint.framework.precision import at_least_fp32, without_autocast
from counterpoint.framework.records import Kept, Shape, only_positive
from counterpoint.parts.extraction.pooled import pool_map

FeatureMap = Float[Tensor, "image channel height width"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Anchors are the places of the first view; the positive of each is its match in the last.

    The match is the place whose vector in another map, `by`, has the largest cosine: DenseCL
    compares the output of a head, and matches by the encoder before it (Wang et al. 2020, section
    3.3). Matched places are no one's negatives: those come from a queue, which keeps the mean of an
    image's places.

    >>> from counterpoint.framework import ALONE
    >>> view = torch.randn(3, 4, 2, 2), torch.randn(3, 5, 2, 2)  # an encoder's map, a head's
    >>> (compared,) = Matched()(Encoded((view,), (view,)), Samples(torch.arange(3)), ALONE)
    >>> torch.equal(compared.anchors, compared.candidates)  # a view matches itself
    True
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    map: int = -1
    """The map that is compared."""
    by: int = -2
    """The map that places are matched by."""

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "Matched":
        found = min(len(view) for view in maps)
        if not all(-found <= one < found for one in (self.map, self.by)):
            raise PartError("extraction", got=str(self), needs=f"two of the encoder's {found} maps")
        for view in maps:
            if view[self.map][1:] != view[self.by][1:]:
                raise PartError(
                    "extraction",
                    got=f"maps of {view[self.map][1:]} and {view[self.by][1:]} places",
                    needs="as many places in the map that is compared as in the one that matches",
                    do="use a head at every place: Headed(of=..., places=True)",
                )
        return self

    def __call__(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison]:
        queries, keys = encoded.online[0], encoded.target[-1]
        match = best_places(queries[self.by], keys[self.by])
        places = match.shape[1]

        def identify(samples: Samples) -> Tensor:
            numbers = torch.arange(places, device=samples.index.device)
            return only_positive((samples.index[:, None] * places + numbers).flatten())

        def whose(samples: Samples) -> Tensor:
            return only_positive(samples.index)

        theirs = keys[self.map].flatten(2)
        chosen = theirs.gather(2, match[:, None].expand(-1, theirs.shape[1], -1))
        pooled = pool_map(keys[self.map], "mean")
        identity = identify(samples)
        return (
            Comparison(
                anchors=queries[self.map].flatten(2).mT.flatten(0, 1),
                candidates=chosen.mT.flatten(0, 1),
                anchor_identity=identity,
                candidate_identity=identity,
                everyone=world.everyone(identify),
                kept=Kept(pooled, whose(samples), world.everyone(whose)),
            ),
        )

    def __str__(self) -> str:
        return f"places of map {self.map}, matched by map {self.by}"


@torch.no_grad()
def best_places(
    queries: FeatureMap, keys: Float[Tensor, "image channel _ _"]
) -> Int64[Tensor, "image place"]:
    """Return for each place of a map the place of another with the largest cosine.

    >>> rows = torch.eye(2)[None, :, :, None]  # two places, two channels
    >>> best_places(rows, rows.flip(2))
    tensor([[1, 0]])
    """
    with without_autocast(queries.device):
        q, k = (F.normalize(at_least_fp32(one).flatten(2), dim=1) for one in (queries, keys))
        return (q.mT @ k).argmax(dim=2)
