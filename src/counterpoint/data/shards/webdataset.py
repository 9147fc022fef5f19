"""Tars in webdataset's layout as they are: each is a shard, and its images are its records."""

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
from counterpoint.data.shards.kept_listing import FileListing, kept_listing
from counterpoint.data.shards.recent import Recent
from counterpoint.data.shards.shard_bytes import shard_bytes
from counterpoint.data.shards.tar_writer import index_name
from counterpoint.data.shards.thread_map import thread_map
from counterpoint.data.shards.webdataset_index import FORM, KNOWN, TarRecords, tar_records
from counterpoint.data.shards.webdataset_samples import printable
from counterpoint.data.stores.files import Files

RECORDS = 1 << 19  # whose places, labels and names a process keeps: about 100 of tars of 5,000


@dataclass(frozen=True, eq=False)
class WebdatasetShards:
    """The images of tars; labels where every image has one."""

    files: Files
    names: tuple[str, ...]
    beside: frozenset[str]
    """Tars beside which an index of ours lies."""
    counts: Int64[Tensor, " shard"]
    has_labels: bool = False
    largest: int = -1
    """The largest label."""
    classes: tuple[str, ...] | None = None
    kind: str = "webdataset"

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        fields = list(self.__dataclass_fields__)
        return type(self), tuple(getattr(self, name) for name in fields)  # nothing that is open

    def stored(self, shard: int, row: int) -> StoredFile:
        start, size, _ = self._index(shard).records[row].item()
        content = shard_bytes(self.files, self.names[shard], start, size)
        return StoredFile(content, self.path(shard, row))

    def labels(self, shard: int, rows: Int64[Tensor, " some"]) -> Int64[Tensor, " some"]:
        found = self._index(shard).labels
        if found is None:
            raise ValueError(f"data: {self.shard_name(shard)} has no labels")
        return torch.from_numpy(found[rows.numpy()].astype("int64"))

    def path(self, shard: int, row: int) -> str:
        names = self._index(shard).names
        name = f"record {row}" if names is None else names[row]
        return f"{self.shard_name(shard)}/{printable(name.encode('utf-8', 'surrogateescape'))}"

    def shard_name(self, shard: int) -> str:
        return f"{self.files.place}/{self.names[shard]}"

    @property
    def mixed(self) -> bool:
        return False

    @property
    def most_open(self) -> None:
        return None

    def expect(self, shards: Sequence[int]) -> None:
        self.files.expect([self.names[shard] for shard in shards])

    def identity(self) -> Identity:
        return self._identity

    @cached_property
    def _identity(self) -> Identity:
        return foreign_identity(self.files, self.names, self.counts.tolist(), KNOWN)

    @cached_property
    def _recent(self) -> Recent[int, TarRecords]:
        return Recent(RECORDS, len)

    def _index(self, shard: int) -> TarRecords:
        return self._recent.get(shard, self._read_index)

    def _read_index(self, shard: int) -> TarRecords:
        name, where = self.names[shard], self.shard_name(shard)
        try:
            version = self.files.version(name)
            found = tar_records(self.files, name, version, beside=name in self.beside)
        except FileNotFoundError as error:
            raise UnreadableImageError(f"{where}: the file is gone", "missing") from error
        except ValueError as error:
            raise UnreadableImageError(str(error), "truncated") from error
        if len(found) != (count := int(self.counts[shard])):
            raise UnreadableImageError(
                f"{where} has {len(found):,} images and had {count:,} when it was opened",
                "truncated",
            )
        return found


def webdataset_shards(
    files: Files, names: tuple[str, ...], beside: frozenset[str]
) -> WebdatasetShards:
    """Open tars; those without an index are indexed now, and the next time that is done."""

    def make(versions: Sequence[str]) -> FileListing:
        what = f"indexing {len(names):,} tars (kept for the next time)"
        both = list(zip(names, versions[: len(names)], strict=True))
        one = list(thread_map(summarise, both, what))
        counts = torch.tensor([count for count, _, _ in one], dtype=torch.int64)
        has_labels = all(labels for count, labels, _ in one if count)
        largest = max((most for _, _, most in one), default=-1)
        return FileListing({"counts": counts}, {"has_labels": has_labels, "largest": largest})

    def summarise(one: tuple[str, str]) -> tuple[int, bool, int]:
        found = tar_records(files, *one, beside=one[0] in beside)
        labels = found.labels
        most = int(labels.max()) if labels is not None and len(labels) else -1
        return len(found), labels is not None, most

    form = f"{FORM} {sorted(beside)}"
    known = (*names, *(index_name(name) for name in names if name in beside))
    found = kept_listing(files, known, form, make)
    labels, largest = found.words["has_labels"], found.words["largest"]
    return WebdatasetShards(files, names, beside, found.tensors["counts"], labels, largest)
