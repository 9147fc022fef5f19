"""The index of a tar that others made: found by walking through its headers once, and kept.

It has the form of our own shards' index (`shard_index.py`), with checksums of 0, for whoever made
the tar wrote none. It lies in the cache folder, never beside the tar.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterpoint.data.cache import cache_folder
from counterpoint.data.formats.heif import heif_is_there
from counterpoint.data.notes import say_once
from counterpoint.data.shards.kept_listing import digest_text, where
from counterpoint.data.shards.shard_index import (
    HEADER,
    LABELS,
    RECORD,
    DamagedIndexError,
    decode_index,
    decode_names,
    encode_index,
)
from counterpoint.data.shards.tar_writer import index_name
from counterpoint.data.shards.webdataset_headers import tar_members
from counterpoint.data.shards.webdataset_samples import TarSamples, tar_samples
from counterpoint.data.stores.files import Files
from counterpoint.whole_file import write_whole

AHEAD = 1 << 20  # bytes that are read at a time: of small images all, of large ones the headers
MOST_INDEX = 1 << 30  # bytes
KNOWN = "tar 1"  # in what data are known by, beside how many images each tar has
FORM = f"{KNOWN} heic" if heif_is_there() else KNOWN  # of what is kept: more members are images
COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True, slots=True, eq=False)
class TarRecords:
    """Where the images of a tar are, their labels and their names."""

    records: np.ndarray  # of RECORD
    labels: np.ndarray | None
    names: list[str] | None

    def __len__(self) -> int:
        return len(self.records)


def tar_records(files: Files, name: str, version: str, *, beside: bool) -> TarRecords:
    """Return the index of a tar: ours that lies beside it, the one that is kept, or a new one."""
    size = files.size(name)
    if beside:
        own = index_name(name)
        try:
            if files.size(own) > MOST_INDEX:
                raise DamagedIndexError(f"it has {files.size(own):,} bytes")
            return _decoded(files.read(own), size)
        except DamagedIndexError as error:
            raise ValueError(
                f"data: the index {files.place}/{own} is damaged: {error}; delete it, and the tar "
                "is indexed anew"
            ) from error
    place = _place(files, name, version)
    with suppress(OSError, DamagedIndexError):
        return _decoded(place.read_bytes(), size)
    content = index_tar(files, name, size)
    with suppress(OSError):
        write_whole(place, content)
    return _decoded(content, size)


def index_tar(files: Files, name: str, size: int) -> bytes:
    """Walk through a tar and return its index."""
    ahead = _Ahead(files, name, size)
    first = ahead.read(0, min(size, 8))
    for magic, kind in COMPRESSED.items():
        if first.startswith(magic):
            raise ValueError(
                f"data: {files.place}/{name} is compressed ({kind}), so that no image of it can be "
                f"read alone; decompress it: {'gunzip' if kind == 'gzip' else kind + ' -d'}"
            )
    try:
        found = tar_samples(tar_members(ahead.read, size), ahead.read)
    except ValueError as error:
        raise ValueError(
            f"data: {files.place}/{name} is not a whole tar: {error}; make or download it again, "
            "or move it away"
        ) from error
    _say(files, name, found)
    records = np.zeros(len(found.starts), RECORD)
    records["offset"], records["size"] = found.starts, found.sizes
    labels = found.labels if found.has_labels else None
    return encode_index(records, size, labels=labels, names=found.names)


def _say(files: Files, name: str, found: TarSamples) -> None:
    """Say what of a tar is not used."""
    if found.others:
        say_once(f"{files.place}/{name}: {found.others:,} images beside the first of their sample")
    if found.too_large:
        say_once(f"{files.place}/{name}: {found.too_large:,} images are too large and left out")


def _decoded(content: bytes, size: int) -> TarRecords:
    if len(content) < HEADER.size:
        raise DamagedIndexError("it is shorter than its header")
    _, _, flags, count, _ = HEADER.unpack_from(content)
    if count > len(content) // RECORD.itemsize:
        raise DamagedIndexError(f"it has {len(content):,} bytes for {count:,} records")
    index = decode_index(content, count, size, labels=bool(flags & LABELS))
    return TarRecords(index.records, index.labels, decode_names(content, count))


def _place(files: Files, name: str, version: str) -> Path:
    known = digest_text(f"{FORM}\n{where(files)}\n{name}\n{version}")
    return cache_folder() / "tars" / known[:2] / f"{known[2:]}.idx"


class _Ahead:
    """Ranges of a file that are asked for in rising order, from pieces that are read at once."""

    def __init__(self, files: Files, name: str, size: int) -> None:
        self.files, self.name, self.size = files, name, size
        self.start, self.data = 0, b""

    def read(self, start: int, length: int) -> bytes:
        if start < self.start or start + length > self.start + len(self.data):
            many = min(max(length, AHEAD), self.size - start)
            self.start, self.data = start, self.files.read(self.name, start, many)
        return self.data[start - self.start : start - self.start + length]
