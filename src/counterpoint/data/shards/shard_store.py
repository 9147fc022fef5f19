"""The contract for shards: what a source may ask of tars, of Parquet row groups, of any kind."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.identity import Identity
from counterpoint.data.source import StoredImage


@runtime_checkable
class ShardStore(Protocol):
    """Records by shard and row; nothing in it is as long as the data.

    What is wrong with a record is an `UnreadableImageError`; so is a shard that is gone or
    damaged, for each of its records.
    """

    @property
    def kind(self) -> str:
        """How a description calls it."""

    @property
    def counts(self) -> Int64[Tensor, " shard"]:
        """How many records each shard has."""

    @property
    def mixed(self) -> bool:
        """Whether records were mixed over all shards when those were written."""

    @property
    def most_open(self) -> int | None:
        """How many shards a process holds at a time; None where a record is read alone."""

    @property
    def has_labels(self) -> bool: ...

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the labels, where they are known."""

    def stored(self, shard: int, row: int, /) -> StoredImage:
        """Read one record."""

    def labels(self, shard: int, rows: Int64[Tensor, " some"], /) -> Int64[Tensor, " some"]:
        """Return the labels of some records of a shard."""

    def path(self, shard: int, row: int, /) -> str:
        """Name a record: the file that it came from, or the shard and its name there."""

    def shard_name(self, shard: int, /) -> str:
        """Name a shard."""

    def expect(self, shards: Sequence[int], /) -> None:
        """Say which shards are read next, in this order."""

    def identity(self) -> Identity:
        """Say by what all the shards are known: their manifest, or names, sizes and a sample."""
