"""The index of a shard: where each record is, 16 bytes a record, with labels and names beside.

    magic 8 bytes, version u32, flags u32, count u64, length of the tar u64
    records    offset u64, size u32, crc32 u32
    labels     int32, where flag 1 is set
    crc32      u32, of all that is above: this much is read for training
    names      the end of each u32, then their bytes, where flag 2 is set; crc32 u32 of these

Numbers are little endian. What an index says is checked before it is believed.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from counterpoint.data.pictures import MOST_FILE

MAGIC = b"CPSHARD\0"
VERSION = 1
HEADER = struct.Struct("<8sIIQQ")
RECORD = np.dtype([("offset", "<u8"), ("size", "<u4"), ("crc", "<u4")])
CHECK = struct.Struct("<I")
LABELS, NAMES = 1, 2
BLOCK = 512  # bytes: no record of a tar lies before the first header


class DamagedIndexError(ValueError):
    """An index that does not fit its shard; it says why."""


@dataclass(frozen=True, slots=True, eq=False)
class ShardIndex:
    """Where the records of a shard are, and their labels."""

    records: npt.NDArray[Any]
    labels: npt.NDArray[np.int32] | None


def index_head(count: int, *, labels: bool) -> int:
    """Return the length of an index without names: what is read for training."""
    return HEADER.size + count * (RECORD.itemsize + 4 * labels) + CHECK.size


def encode_index(
    records: npt.NDArray[Any],
    tar_length: int,
    *,
    labels: Sequence[int] | None,
    names: Sequence[str] | None,
) -> bytes:
    """Write an index.

    >>> records = np.array([(512, 3, 7)], RECORD)
    >>> content = encode_index(records, 2048, labels=[5], names=["cat.jpg"])
    >>> len(content), decode_index(content, 1, 2048, labels=True).labels, decode_names(content, 1)
    (71, array([5], dtype=int32), ['cat.jpg'])
    """
    flags = (0 if labels is None else LABELS) | (0 if names is None else NAMES)
    head = HEADER.pack(MAGIC, VERSION, flags, len(records), tar_length) + records.tobytes()
    if labels is not None:
        head += np.array(labels, "<i4").tobytes()
    head += CHECK.pack(zlib.crc32(head))
    if names is None:
        return head
    words = [name.encode("utf-8", "surrogateescape") for name in names]
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    tail = ends.astype("<u4").tobytes() + b"".join(words)
    return head + tail + CHECK.pack(zlib.crc32(tail))


def decode_index(content: bytes, count: int, tar_length: int, *, labels: bool) -> ShardIndex:
    """Read the head of an index, and refuse what does not fit the shard that it is of."""
    length = index_head(count, labels=labels)
    if len(content) < length:
        raise DamagedIndexError(f"it has {len(content)} bytes and needs {length}")
    magic, version, flags, said, tar = HEADER.unpack_from(content)
    if magic != MAGIC or version != VERSION:
        raise DamagedIndexError("it is not an index of version 1")
    if (said, tar) != (count, tar_length) or bool(flags & LABELS) != labels:
        raise DamagedIndexError("it is of another shard")
    body, (crc,) = content[: length - CHECK.size], CHECK.unpack_from(content, length - CHECK.size)
    if zlib.crc32(body) != crc:
        raise DamagedIndexError("its checksum is wrong")
    records = np.frombuffer(body, RECORD, count, HEADER.size)
    offset, size = records["offset"], records["size"].astype(np.uint64)
    if count and bool(((offset < BLOCK) | (offset > tar - np.minimum(size, tar))).any()):
        raise DamagedIndexError("it names places outside of its tar")
    if count and int(size.max()) > MOST_FILE:
        raise DamagedIndexError(f"it names a record above {MOST_FILE >> 20} MB")
    at = HEADER.size + records.nbytes
    known = np.frombuffer(body, "<i4", count, at) if labels else None
    if known is not None and count and int(known.min()) < 0:
        raise DamagedIndexError(f"it has the label {int(known.min())}")
    return ShardIndex(records, known)


def record_start(row: int) -> int:
    """Return where the 16 bytes of a record begin in an index."""
    return HEADER.size + row * RECORD.itemsize


def record_fields(record: Any) -> tuple[int, int, int]:
    """Return the offset, the size and the checksum of a record."""
    offset, size, crc = record.item()
    return offset, size, crc


def decode_record(content: bytes, tar_length: int) -> tuple[int, int, int]:
    """Read one record of an index that was checked before, and may have changed since.

    >>> content = encode_index(np.array([(512, 3, 7)], RECORD), 2048, labels=None, names=None)
    >>> decode_record(content[record_start(0) :][:16], 2048)
    (512, 3, 7)
    """
    offset, size, crc = record_fields(np.frombuffer(content, RECORD, 1)[0])
    if offset < BLOCK or offset + size > tar_length or size > MOST_FILE:
        raise DamagedIndexError("it names places outside of its tar")
    return offset, size, crc


def check_label(label: int, classes: int) -> None:
    """Refuse a label that has no name."""
    if label >= classes:
        raise DamagedIndexError(f"it has the label {label} of {classes} classes")


def decode_names(content: bytes, count: int) -> list[str] | None:
    """Read the names of all records from a whole index; None where it has none."""
    (_, _, flags, said, _) = HEADER.unpack_from(content)
    if not flags & NAMES:
        return None
    tail = content[index_head(count, labels=bool(flags & LABELS)) :]
    body = tail[: -CHECK.size]
    if said != count or len(tail) < 4 * count + CHECK.size:
        raise DamagedIndexError("its names are cut short")
    if zlib.crc32(body) != CHECK.unpack_from(tail, len(body))[0]:
        raise DamagedIndexError("the checksum of its names is wrong")
    ends = np.frombuffer(body, "<u4", count).tolist()
    words = body[4 * count :]
    starts = [0, *ends][:-1]
    if any(a > b for a, b in zip(starts, ends, strict=True)) or (ends and ends[-1] != len(words)):
        raise DamagedIndexError("the lengths of its names are wrong")
    found = (words[a:b] for a, b in zip(starts, ends, strict=True))
    return [word.decode("utf-8", "surrogateescape") for word in found]
