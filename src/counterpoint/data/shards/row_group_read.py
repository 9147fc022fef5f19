"""One column of one row group, read within a bounded memory."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.notes import one_line
from counterpoint.data.pictures import MOST_FILE, too_long
from counterpoint.data.shards.row_group_footer import (
    DAMAGED,
    ChunkFile,
    FileDamageError,
    Footer,
)
from counterpoint.data.shards.row_group_pages import Pages, read_pages
from counterpoint.data.shards.shard_bytes import shard_bytes
from counterpoint.data.stores.files import Files

MOST_GROUP = 512 << 20
"""Bytes of one column of a row group, compressed and not; while it is read, it is there twice."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupImages:
    """The encoded images of a row group; rows that share an entry of a dictionary share memory."""

    chunks: tuple[Any, ...]
    ends: tuple[int, ...]
    nbytes: int

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def content(self, row: int, name: str) -> bytes | None:
        """Return the bytes of a row, None where there are none; they are counted before."""
        number = bisect_right(self.ends, row)
        chunk = self.chunks[number]
        value = chunk[row - self.ends[number] + len(chunk)]
        if isinstance(value, arrow.DictionaryScalar):
            value = value.value
        if value is None or not value.is_valid:
            return None
        buffer = value.as_buffer()
        if buffer.size > MOST_FILE:
            raise too_long(name, buffer.size)
        found: bytes = buffer.to_pybytes()
        return found


def read_group_images(files: Files, footer: Footer, group: int, path: str) -> GroupImages:
    """Read the images of a row group; a `ValueError` where it is damaged or too large."""
    column, pages = _read_column(files, footer, group, path)
    chunks = []
    for chunk in column.chunks:
        while arrow.types.is_struct(chunk.type):
            chunk = _inner(chunk)
        chunks.append(chunk)
        kind = chunk.type.value_type if arrow.types.is_dictionary(chunk.type) else chunk.type
        if not (arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind)):
            raise FileDamageError(f"column {path} is {kind}, needs bytes")
    ends = tuple(accumulate(len(chunk) for chunk in chunks))
    return GroupImages(tuple(chunks), ends, pages.uncompressed + 8 * pages.values)


def _inner(chunk: Any) -> Any:
    """Take the one field of a structure; where the structure is missing, so is the field."""
    if chunk.null_count:
        return chunk.flatten()[0]
    return chunk.field(0)


def read_group_labels(
    files: Files, footer: Footer, group: int, path: str, most: int | None
) -> Int64[Tensor, " row"]:
    """Read the labels of a row group, below `most` where that is known; no image is read for it."""
    column, _ = _read_column(files, footer, group, path)
    if column.null_count or not arrow.types.is_integer(column.type):
        raise FileDamageError(f"column {path} has missing labels, or none that are whole numbers")
    labels = torch.from_numpy(column.to_numpy().astype(np.int64))
    if len(labels) and int(labels.min()) < 0:
        raise FileDamageError(f"column {path} has a label below 0")
    if len(labels) and most is not None and int(labels.max()) >= most:
        raise FileDamageError(f"column {path} has the label {int(labels.max())} of {most} classes")
    return labels


def _read_column(files: Files, footer: Footer, group: int, path: str) -> tuple[Any, Pages]:
    """Read a column if the headers of its pages say that it is small enough."""
    leaf = footer.leaf(path)
    if leaf is None:
        raise FileDamageError(f"there is no column {path}")
    start, length = footer.chunk(group, leaf)
    rows = footer.found.row_group(group).num_rows
    _check_bound(length, group)
    data = shard_bytes(files, footer.name, start, length)
    try:
        pages = read_pages(data)
    except ValueError as error:
        raise FileDamageError(f"row group {group}: {error}") from error
    _check_bound(pages.uncompressed, group)
    if pages.values != rows:
        raise FileDamageError(f"row group {group} has {pages.values:,} values in {rows:,} rows")
    shared = [path] if pages.has_dictionary and _is_bytes(footer, leaf) else None
    try:
        with parquet.ParquetFile(
            arrow.PythonFile(ChunkFile(data, start, footer.size), mode="r"),
            metadata=footer.found,
            read_dictionary=shared,
        ) as opened:
            table = opened.read_row_group(group, columns=[path], use_threads=False)
    except (*DAMAGED, OSError) as error:
        raise FileDamageError(one_line(error)) from error
    if table.num_columns != 1 or table.num_rows != rows:
        raise FileDamageError(f"row group {group} has {table.num_rows:,} rows of {rows:,}")
    return table.column(0), pages


def _is_bytes(footer: Footer, leaf: int) -> bool:
    return bool(footer.found.schema.column(leaf).physical_type == "BYTE_ARRAY")


def _check_bound(length: int, group: int) -> None:
    if length > MOST_GROUP:
        raise FileDamageError(
            f"row group {group} has {length / 2**20:,.0f} MiB of images, needs "
            f"{MOST_GROUP >> 20} MiB at most; write the file again with smaller row groups "
            "(row_group_size=1000 of pyarrow)"
        )
