"""Our shards as a store: tars with an index, read record by record."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.identity import Identity
from counterpoint.data.pictures import StoredFile, UnreadableImageError
from counterpoint.data.shards.recent import Recent
from counterpoint.data.shards.shard_bytes import shard_bytes
from counterpoint.data.shards.shard_index import (
    RECORD,
    DamagedIndexError,
    ShardIndex,
    check_label,
    decode_index,
    decode_names,
    decode_record,
    index_head,
    record_fields,
    record_start,
)
from counterpoint.data.shards.shard_table import ShardTable
from counterpoint.data.shards.tar_writer import index_name
from counterpoint.data.stores.files import Files

INDICES = 256  # that are kept whole: 100 kB for a shard of 5,000 images
NAMED = 8  # shards whose names are kept, for whoever lists them


@dataclass(frozen=True, eq=False)
class TarShards:
    """The shards of one split.

    What is wrong with a shard or a record is said by an `UnreadableImageError`. An error of the
    network is none: it is raised as it is, since the images may be there another time.
    """

    files: Files
    table: ShardTable
    split: str
    has_labels: bool
    classes: tuple[str, ...] | None
    known: bytes
    """The SHA-256 of the manifest."""
    kind: str = "shards"
    indices: Recent[int, ShardIndex] = field(init=False, repr=False)
    sound: bytearray = field(init=False, repr=False)
    """Of each shard, whether this process has read and checked its whole index."""
    names: Callable[[int], list[str] | None] = field(init=False, repr=False)
    """Of a shard, by its number; those used last are kept."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "indices", Recent[int, ShardIndex](INDICES))
        object.__setattr__(self, "sound", bytearray(len(self.table.counts)))
        object.__setattr__(self, "names", lru_cache(maxsize=NAMED)(self._read_names))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        kept = self.files, self.table, self.split, self.has_labels, self.classes, self.known
        return type(self), kept

    @property
    def counts(self) -> Int64[Tensor, " shard"]:
        return torch.from_numpy(self.table.counts)

    def stored(self, shard: int, row: int) -> StoredFile:
        name = self.table.name(shard)
        offset, size, crc = self._record(shard, row)
        content = shard_bytes(self.files, name, offset, size)
        if zlib.crc32(content) != crc:
            raise UnreadableImageError(
                f"{self._where(name)}: the checksum of record {row} is wrong", "truncated"
            )
        return StoredFile(content, f"{self._where(name)}/{row:06d}")

    def _record(self, shard: int, row: int) -> tuple[int, int, int]:
        """Return where a record is; of an index that was checked and let go, only its bytes.

        A process may have thousands of shards open, and would read an index for every image.
        """
        if not self.sound[shard] or shard in self.indices:
            return record_fields(self.index(shard).records[row])
        name = index_name(self.table.name(shard))
        content = shard_bytes(self.files, name, record_start(row), RECORD.itemsize)
        try:
            return decode_record(content, int(self.table.lengths[shard]))
        except DamagedIndexError as error:
            raise UnreadableImageError(f"{self._where(name)}: {error}", "truncated") from error

    def index(self, shard: int) -> ShardIndex:
        """Return the index of a shard; those used last are kept."""
        return self.indices.get(shard, self._read_index)

    def labels(self, shard: int, rows: Int64[Tensor, " some"]) -> Int64[Tensor, " some"]:
        found = self.index(shard)
        assert found.labels is not None, f"{self.files.place} has no labels"
        return torch.from_numpy(found.labels[rows.numpy()]).long()

    def path(self, shard: int, row: int) -> str:
        """Name the file that a record came from; where that cannot be read, its place here."""
        try:
            names = self.names(shard)
        except UnreadableImageError:
            names = None
        return f"{self.shard_name(shard)}/{row:06d}" if names is None else names[row]

    def shard_name(self, shard: int) -> str:
        return self.table.name(shard)

    @property
    def mixed(self) -> bool:
        return True

    @property
    def most_open(self) -> None:
        return None

    def expect(self, shards: Sequence[int]) -> None:
        names = [self.table.name(shard) for shard in shards]
        self.files.expect([one for name in names for one in (index_name(name), name)])

    def identity(self) -> Identity:
        return Identity(self.known + self.split.encode(), self.known)

    def _read_index(self, shard: int) -> ShardIndex:
        name = self.table.name(shard)
        count, length = int(self.table.counts[shard]), int(self.table.lengths[shard])
        head = index_head(count, labels=self.has_labels)
        content = shard_bytes(self.files, index_name(name), 0, head)
        try:
            found = decode_index(content, count, length, labels=self.has_labels)
            if self.classes is not None and found.labels is not None and count:
                check_label(int(found.labels.max()), len(self.classes))
        except DamagedIndexError as error:
            where = self._where(index_name(name))
            raise UnreadableImageError(f"{where}: {error}", "truncated") from error
        self.sound[shard] = 1
        return found

    def _read_names(self, shard: int) -> list[str] | None:
        name = index_name(self.table.name(shard))
        self.index(shard)  # its head is sound
        try:
            return decode_names(shard_bytes(self.files, name), int(self.table.counts[shard]))
        except DamagedIndexError as error:
            raise UnreadableImageError(f"{self._where(name)}: {error}", "truncated") from error

    def _where(self, name: str) -> str:
        return f"{self.files.place}/{name}"
