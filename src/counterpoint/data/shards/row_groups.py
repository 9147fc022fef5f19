"""Parquet files as they are: each of their row groups is a shard."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.identity import Identity
from counterpoint.data.pictures import StoredFile, UnreadableImageError
from counterpoint.data.shards.foreign_identity import foreign_identity
from counterpoint.data.shards.recent import Recent
from counterpoint.data.shards.row_group_footer import FileDamageError, Footer, read_footer
from counterpoint.data.shards.row_group_listing import GroupListing, LeafPaths
from counterpoint.data.shards.row_group_read import (
    MOST_GROUP,
    GroupImages,
    read_group_images,
    read_group_labels,
)
from counterpoint.data.stores.files import Files

FOOTERS = 32  # that are kept: a row group needs that of its file
LABELS = 1 << 22  # labels that are kept, of whole row groups


@dataclass(frozen=True, eq=False)
class RowGroups:
    """The rows of Parquet files; a process keeps no more open than one row group may have."""

    files: Files
    names: tuple[str, ...]
    leaves: LeafPaths
    listing: GroupListing
    classes: tuple[str, ...] | None = None
    kind: str = "row groups"

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        fields = (self.files, self.names, self.leaves, self.listing, self.classes, self.kind)
        return type(self), fields  # what is open belongs to this process

    @property
    def counts(self) -> Int64[Tensor, " shard"]:
        return self.listing.rows

    @property
    def has_labels(self) -> bool:
        return self.listing.has_labels

    def stored(self, shard: int, row: int) -> StoredFile:
        name = self.path(shard, row)
        group = self._images.get(shard, self._read_images)
        if isinstance(group, str):
            raise UnreadableImageError(f"{self.shard_name(shard)}: {group}", "truncated")
        if (found := group.content(row, name)) is None:
            raise UnreadableImageError(f"{name}: there is no image in this row", "missing")
        return StoredFile(found, name)

    def labels(self, shard: int, rows: Int64[Tensor, " some"]) -> Int64[Tensor, " some"]:
        try:
            return self._labels.get(shard, self._read_labels)[rows]
        except ValueError as error:
            raise ValueError(f"data: {self.shard_name(shard)}: {error}") from error

    def path(self, shard: int, row: int) -> str:
        return f"{self.shard_name(shard)}/row {row}"

    def shard_name(self, shard: int) -> str:
        file, group = self._where(shard)
        return f"{self.files.place}/{self.names[file]}/row group {group}"

    @property
    def mixed(self) -> bool:
        return False

    @property
    def most_open(self) -> int:
        """Half of what has room: where one too many is open, each is read again and again."""
        groups = max(1, len(self.listing.rows))
        return max(1, MOST_GROUP // 2 * groups // max(1, self.listing.image_bytes))

    def expect(self, shards: Sequence[int]) -> None:
        """Do nothing: a row group is one request, and few of a file are read at a time."""

    def identity(self) -> Identity:
        return self._identity

    @cached_property
    def _identity(self) -> Identity:
        rows, ends = self.listing.rows.cumsum(0), self._ends
        before = torch.cat([torch.zeros(1, dtype=torch.int64), rows])
        counts = (before[ends] - before[ends - self.listing.groups]).tolist()
        return foreign_identity(self.files, self.names, counts, self.leaves.image)

    @cached_property
    def _ends(self) -> Int64[Tensor, " file"]:
        """Where the row groups of each file end."""
        return self.listing.groups.cumsum(0)

    @cached_property
    def _images(self) -> "Recent[int, GroupImages | str]":
        return Recent(MOST_GROUP, lambda held: 0 if isinstance(held, str) else held.nbytes)

    @cached_property
    def _labels(self) -> Recent[int, Tensor]:
        return Recent(LABELS, len)

    @cached_property
    def _footers(self) -> Recent[int, Footer]:
        return Recent(FOOTERS)

    def _where(self, shard: int) -> tuple[int, int]:
        """Return the file of a shard, and which of its row groups it is."""
        file = int(self._ends.numpy().searchsorted(shard, side="right"))
        return file, shard - int(self._ends[file]) + int(self.listing.groups[file])

    def _footer(self, file: int) -> Footer:
        try:
            return self._footers.get(file, lambda n: read_footer(self.files, self.names[n]))
        except FileNotFoundError as error:
            raise UnreadableImageError(f"{error}", "missing") from error

    def _read_images(self, shard: int) -> GroupImages | str:
        """Read a row group, or say what is wrong with it: a damaged one is read once."""
        file, group = self._where(shard)
        try:
            found = read_group_images(self.files, self._footer(file), group, self.leaves.image)
            self._check_rows(shard, len(found))
        except FileDamageError as error:  # an error of the network is none: it is raised as it is
            return str(error)
        return found

    def _read_labels(self, shard: int) -> Tensor:
        assert self.leaves.label is not None
        file, group = self._where(shard)
        most = None if self.classes is None else len(self.classes)
        found = read_group_labels(self.files, self._footer(file), group, self.leaves.label, most)
        self._check_rows(shard, len(found))
        return found

    def _check_rows(self, shard: int, there: int) -> None:
        if there != (count := int(self.counts[shard])):
            raise FileDamageError(f"it has {there:,} rows and had {count:,} when it was opened")
