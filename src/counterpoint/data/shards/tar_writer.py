"""A shard is written whole: under another name, to the disk, and then under its own."""

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterpoint.data.shards.shard_index import RECORD, encode_index
from counterpoint.data.shards.tar_format import BLOCK, END, tar_header, tar_padded
from counterpoint.whole_file import whole_file, write_whole

SUFFIXES = {"JPEG": ".jpg", "TIFF": ".tif", "HEIF": ".heic"}


@dataclass(frozen=True, slots=True)
class Record:
    """One image of a shard: its bytes, and what is known of it."""

    content: bytes
    form: str
    """The file format, as Pillow calls it."""
    name: str
    """The file that it came from."""
    label: int | None = None


@dataclass(frozen=True, slots=True)
class ShardRow:
    """A row of the table of shards."""

    name: str
    split: str
    count: int
    length: int
    sha256: bytes
    index_sha256: bytes


def record_name(number: int, form: str) -> str:
    """Name a record as webdataset does.

    >>> record_name(123, "JPEG"), record_name(0, "PNG")
    ('000123.jpg', '000000.png')
    """
    return f"{number:06d}{SUFFIXES.get(form, f'.{form.lower()}')}"


def write_shard(
    folder: Path, name: str, split: str, records: Iterable[Record], *, labels: bool
) -> ShardRow:
    """Write NAME (a .tar) and its index into a folder; the index last, so it says that both are."""
    digest = hashlib.sha256()
    known: list[tuple[int, int, int]] = []
    names: list[str] = []
    numbers: list[int] = []
    with whole_file(folder / name) as unfinished, unfinished.open("wb") as file:
        length = 0
        for number, record in enumerate(records):
            header = tar_header(record_name(number, record.form), len(record.content))
            known.append((length + BLOCK, len(record.content), zlib.crc32(record.content)))
            names.append(record.name)
            numbers += [] if record.label is None else [record.label]
            for part in (header, tar_padded(record.content)):
                file.write(part)
                digest.update(part)
                length += len(part)
        file.write(END)
        digest.update(END)
        length += len(END)
    assert len(numbers) == len(known) * labels, f"{name}: all records have labels, or none has"
    found = np.array(known, RECORD) if known else np.zeros(0, RECORD)
    index = encode_index(found, length, labels=numbers if labels else None, names=names)
    write_whole(folder / index_name(name), index)
    sums = digest.digest(), hashlib.sha256(index).digest()
    return ShardRow(name, split, len(known), length, *sums)


def index_name(shard: str) -> str:
    """Name the index of a shard.

    >>> index_name("train-00000.tar")
    'train-00000.idx'
    """
    return shard.removesuffix(".tar") + ".idx"
