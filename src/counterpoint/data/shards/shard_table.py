"""The table of shards, a row for each, as a Parquet file: a million rows open in a second.

It is written without compression and read in pieces, so that its length bounds the memory that a
damaged one can take.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as arrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from counterpoint.data.notes import one_line
from counterpoint.data.shards.shard_manifest import SPLIT_NAMES, DamagedShardsError
from counterpoint.data.shards.tar_writer import ShardRow
from counterpoint.data.stores.files import Files

TABLE = "shards.parquet"
MOST_SHARDS = 1 << 24  # a billion images have 200,000
ROWS = 1 << 16  # that are read at a time
LONGEST = 255  # characters of a name
NAME = r"^[A-Za-z0-9_][A-Za-z0-9._-]*\.tar$"
"""What a shard may be called: no folder, so nothing outside of that of the manifest."""
KEPT = ("count", "length")  # the columns of numbers
DIGEST = arrow.binary(32)
SCHEMA = arrow.schema(
    [
        ("name", arrow.string()),
        ("split", arrow.string()),
        ("count", arrow.int64()),
        ("length", arrow.int64()),
        ("sha256", DIGEST),
        ("index_sha256", DIGEST),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class ShardTable:
    """The shards of a split: names, counts and lengths, as arrays."""

    names: Any
    """An Arrow array of text."""
    splits: npt.NDArray[np.int8]
    """The split of each, by its place in `SPLIT_NAMES`."""
    counts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    def some(self, start: int, stop: int) -> "ShardTable":
        """Take consecutive shards; nothing is copied."""
        cut = slice(start, stop)
        return ShardTable(self.names[cut], self.splits[cut], self.counts[cut], self.lengths[cut])

    def name(self, shard: int) -> str:
        """Name a shard."""
        return str(self.names[shard])


def encode_shard_table(rows: Sequence[ShardRow]) -> bytes:
    """Write a table of shards."""
    columns = {field.name: [getattr(row, field.name) for row in rows] for field in SCHEMA}
    file = arrow.BufferOutputStream()
    table = arrow.table(columns, schema=SCHEMA)
    parquet.write_table(
        table, file, compression="none", use_dictionary=["split"], row_group_size=ROWS
    )
    return bytes(file.getvalue())


def read_shard_table(files: Files) -> ShardTable:
    """Read what training needs of a table, and check all of it."""
    wanted = ["name", "split", "count", "length"]
    parts: list[ShardTable] = []
    view = FileView(files, TABLE, files.size(TABLE))
    try:
        with parquet.ParquetFile(
            arrow.PythonFile(view, mode="r"), read_dictionary=["name", "split"], pre_buffer=False
        ) as opened:
            _check_shape(opened)
            for group in range(opened.num_row_groups):  # one after the other: memory stays small
                found = opened.read_row_group(group, columns=wanted, use_threads=False)
                parts += [_checked(part) for part in found.to_batches(ROWS)]
    except (arrow.ArrowException, TypeError, KeyError, OSError) as error:
        if view.failed:  # a store that does not answer says nothing of the table
            raise
        raise DamagedShardsError(f"it is not a readable Parquet file: {one_line(error)}") from error
    none = np.zeros(0, np.int64)
    return ShardTable(
        arrow.concat_arrays([arrow.array([], arrow.string()), *(part.names for part in parts)]),
        np.concatenate([none.astype(np.int8), *(part.splits for part in parts)]),
        np.concatenate([none, *(part.counts for part in parts)]),
        np.concatenate([none, *(part.lengths for part in parts)]),
    )


def read_digests(files: Files) -> tuple[list[bytes], list[bytes]]:
    """Read the SHA-256 of every shard and of every index."""
    table = parquet.ParquetFile(_opened(files)).read(["sha256", "index_sha256"])
    return table.column(0).to_pylist(), table.column(1).to_pylist()


def _opened(files: Files) -> Any:
    """Open the table where pyarrow reads only what it needs."""
    return arrow.PythonFile(FileView(files, TABLE, files.size(TABLE)), mode="r")


def _check_shape(opened: Any) -> None:
    found = opened.schema_arrow
    if any(found.field(field.name).type != field.type for field in SCHEMA if field.name in KEPT):
        raise DamagedShardsError(f"its columns are {', '.join(map(str, found))}")
    said = opened.metadata
    if said.num_rows > MOST_SHARDS:
        raise DamagedShardsError(f"it has {said.num_rows:,} rows, at most {MOST_SHARDS:,}")
    for group in range(said.num_row_groups):
        row_group = said.row_group(group)
        for number in range(row_group.num_columns):
            if row_group.column(number).compression != "UNCOMPRESSED":
                raise DamagedShardsError("it is compressed")


def _checked(part: Any) -> ShardTable:
    """Check a piece of the table: names, splits, and numbers that are not below 0."""
    names = _text(part.column(0))
    if any(part.column(number).null_count for number in range(4)):
        raise DamagedShardsError("values are missing")
    good = compute.match_substring_regex(names, NAME)
    if not compute.all(good).as_py():
        bad = names[compute.index(good, value=False).as_py()].as_py()
        raise DamagedShardsError(f"a shard is called {bad[:80]!r}; needs NAME.tar, without folders")
    splits = compute.index_in(_text(part.column(1)), value_set=arrow.array(SPLIT_NAMES))
    if splits.null_count:
        raise DamagedShardsError(f"a split is none of {', '.join(SPLIT_NAMES)}")
    counts, lengths = (part.column(place).to_numpy() for place in (2, 3))
    if len(counts) and (counts.min() < 0 or counts.max() >= 1 << 31 or lengths.min() < 0):
        raise DamagedShardsError("a count or a length is not possible")
    return ShardTable(names, splits.to_numpy().astype(np.int8), counts, lengths)


def _text(column: Any) -> Any:
    """Return short text as it is; what is long is refused before it is copied."""
    if not arrow.types.is_dictionary(column.type):
        raise DamagedShardsError(f"names are {column.type}")
    words = column.dictionary
    if len(words) and (compute.max(compute.binary_length(words)).as_py() or 0) > LONGEST:
        raise DamagedShardsError(f"a name is longer than {LONGEST} characters")
    return column.cast(arrow.string())


class FileView(io.RawIOBase):
    """A file of a `Files` as Python's files are: read from a position."""

    def __init__(self, files: Files, name: str, length: int) -> None:
        super().__init__()
        self.files, self.name, self.length, self.position = files, name, length, 0
        self.failed = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.length}[whence]
        self.position = max(0, base + offset)
        return self.position

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self.length - self.position)
        many = left if size is None or size < 0 else min(size, left)
        self.failed = True
        found = self.files.read(self.name, self.position, many) if many else b""
        self.failed = False
        self.position += len(found)
        return found
