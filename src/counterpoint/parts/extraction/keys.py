"""The first view asks, the second answers (MoCo)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from counterpoint.framework import Comparison, Encoded, PartError, World
from counterpoint.framework.records import Index, Shape, only_positive
from counterpoint.parts.extraction.pooled import Pool, pooled


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Anchors are the queries of view 1, candidates the keys of view 2, from the twin.

    Keys of the batch are positives of their own query and no one's negatives: those come from
    a queue (He et al. 2019, algorithm 1).
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    map: int = -1
    pool: Pool = "mean"

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "Keys":
        if len(maps) != 2:
            raise PartError("extraction", got=f"{len(maps)} views", needs="two: a query and a key")
        return self

    def __call__(self, encoded: Encoded, index: Index, _world: World) -> tuple[Comparison]:
        identity = only_positive(index)
        return (
            Comparison(
                anchors=pooled(encoded.online[0][self.map], self.pool),
                candidates=pooled(encoded.target[1][self.map], self.pool),
                anchor_identity=identity,
                candidate_identity=identity,
            ),
        )
