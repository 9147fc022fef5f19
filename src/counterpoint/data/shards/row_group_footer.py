"""What a Parquet file says of itself at its end, and how much of it is believed."""

import io
from dataclasses import dataclass
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet

from counterpoint.data.notes import one_line
from counterpoint.data.stores.files import Files

TAIL = 1 << 16  # bytes that are read at first; a footer is mostly shorter
MOST_FOOTER = 64 << 20  # bytes
STRINGS, CONTAINERS = 64 << 20, 10 << 20  # what Thrift may allocate for one string, one list
MAGIC = b"PAR1"
DAMAGED = (arrow.ArrowException, ValueError, OverflowError)
"""What pyarrow raises on damaged files; where it reads from memory, also an `OSError`."""


class FileDamageError(ValueError):
    """A Parquet file that is not what it says."""


@dataclass(frozen=True, slots=True, eq=False)
class Footer:
    """The footer of a file, and how long the file is."""

    name: str
    size: int
    found: Any

    def chunk(self, group: int, leaf: int) -> tuple[int, int]:
        """Return where a column of a row group is; it lies in the file, whatever is said."""
        part = self.found.row_group(group).column(leaf)
        first = part.dictionary_page_offset if part.has_dictionary_page else None
        start = part.data_page_offset if first is None else min(first, part.data_page_offset)
        length = part.total_compressed_size
        if start < len(MAGIC) or length < 0 or start + length > self.size - 2 * len(MAGIC):
            raise FileDamageError(
                f"row group {group} says that it is at byte {start:,} and has {length:,} bytes, "
                f"in a file of {self.size:,}"
            )
        return start, length

    def leaf(self, path: str) -> int | None:
        """Find a column by its path; one of lists is none, for its rows have many values."""
        for number in range(self.found.num_columns):
            column = self.found.schema.column(number)
            if column.path == path and column.max_repetition_level == 0:
                return number
        return None


def read_footer(files: Files, name: str) -> Footer:
    """Read the end of a Parquet file, in one request where that is enough."""
    size = files.size(name)
    tail = files.read(name, max(0, size - TAIL), min(size, TAIL))
    try:
        if tail[-4:] != MAGIC or size < 12:
            raise FileDamageError(f"it does not end in {MAGIC.decode()}: it was cut short")
        length = int.from_bytes(tail[-8:-4], "little")
        if length > min(size - 12, MOST_FOOTER):
            raise FileDamageError(f"its footer says that it has {length:,} bytes")
    except FileDamageError as error:
        raise _unreadable(files, name, error) from None
    if length + 8 > len(tail):
        tail = files.read(name, size - length - 8, length + 8)
    try:
        with parquet.ParquetFile(
            arrow.BufferReader(tail[-length - 8 :]),
            thrift_string_size_limit=STRINGS,
            thrift_container_size_limit=CONTAINERS,
        ) as opened:
            return Footer(name, size, opened.metadata)
    except (*DAMAGED, OSError) as error:
        raise _unreadable(files, name, error) from error


def _unreadable(files: Files, name: str, error: Exception) -> FileDamageError:
    return FileDamageError(
        f"data: {files.place}/{name} is not a readable Parquet file: {one_line(error)}; "
        "download it again"
    )


class ChunkFile(io.RawIOBase):
    """A file of which only one range is there: what pyarrow reads of a row group."""

    def __init__(self, data: bytes, start: int, size: int) -> None:
        super().__init__()
        self.data, self.start, self.length = data, start, size
        self.place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def seek(self, place: int, whence: int = 0) -> int:
        self.place = place + (0, self.place, self.length)[whence]
        return self.place

    def read(self, size: int = -1) -> bytes:
        first = self.place - self.start
        size = self.length - self.place if size < 0 else size
        if first < 0 or first + size > len(self.data):
            raise OSError("a row group refers to bytes that are not its own")
        self.place += size
        return self.data[first : first + size]
