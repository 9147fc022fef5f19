"""The first view gives queries, the last gives keys (MoCo)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from counterpoint.framework import Comparison, Encoded, Samples, World
from counterpoint.framework.records import Shape, only_positive
from counterpoint.parts.extraction.pooled import Pool, pool_map


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Anchors are the queries of the first view, candidates the keys of the last, from the twin.

    Keys of the batch are positives of their own query and no one's negatives: those come from
    a queue (He et al. 2019, algorithm 1).

    >>> from counterpoint.framework import ALONE
    >>> import torch
    >>> queries, keys = ((torch.randn(3, 4, 1, 1),),), ((torch.randn(3, 4, 1, 1),),)
    >>> (compared,) = Keys()(Encoded(queries, keys), Samples(torch.arange(3)), ALONE)
    >>> len(compared.anchors), len(compared.candidates)
    (3, 3)
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    map: int = -1
    pool: Pool = "mean"

    def build(self, _maps: tuple[tuple[Shape, ...], ...]) -> "Keys":
        return self

    def __call__(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison]:
        identity = _identify(samples)
        return (
            Comparison(
                anchors=pool_map(encoded.online[0][self.map], self.pool),
                candidates=pool_map(encoded.target[-1][self.map], self.pool),
                anchor_identity=identity,
                candidate_identity=identity,
                everyone=world.everyone(_identify),
            ),
        )


def _identify(samples: Samples) -> Tensor:
    return only_positive(samples.index)
