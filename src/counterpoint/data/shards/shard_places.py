"""Some samples of shards as a store of images: what a subset of them is made of."""

import hashlib
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.identity import Identity
from counterpoint.data.source import SampleNumbers, StoredImage


@runtime_checkable
class Numbered(Protocol):
    """What a subset asks of the shards it was taken from."""

    @property
    def kind(self) -> str: ...

    def __len__(self) -> int: ...

    def path(self, sample: int, /) -> str | None: ...

    def stored(self, sample: int, /) -> StoredImage: ...

    def labels_of(self, samples: SampleNumbers, /) -> Int64[Tensor, " some"]: ...

    def fingerprint(self) -> str: ...


@dataclass(frozen=True, slots=True, eq=False)
class ShardPlaces:
    """The samples of shards by number; the place of one is its number there."""

    source: Numbered

    @property
    def kind(self) -> str:
        return self.source.kind

    def __len__(self) -> int:
        return len(self.source)

    def path(self, place: int) -> str | None:
        return self.source.path(place)  # no Path: an address would lose a slash

    def stored(self, place: int) -> StoredImage:
        return self.source.stored(place)

    @property
    def unopened(self) -> dict[str, int]:
        return {}

    @property
    def shut(self) -> tuple[str, ...]:
        return ()

    def identity(self) -> Identity:
        known = hashlib.blake2b(self.source.fingerprint().encode(), digest_size=32).digest()
        return Identity(known, known)


@dataclass(frozen=True, slots=True, eq=False)
class ShardLabels:
    """The labels of shards, read when they are asked for."""

    source: Numbered

    def __getitem__(self, places: Int64[Tensor, " some"]) -> Int64[Tensor, " some"]:
        return self.source.labels_of(places)
