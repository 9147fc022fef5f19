"""The encoded images of Parquet files, row by row."""

import os
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.pictures import FilePicture, UnreadableImageError, open_picture

MEMORY = 0.5  # of the machine's; the rest is for training; our choice


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The encoded images of Parquet files, read as a whole when the first is asked for."""

    files: tuple[Path, ...]
    column: str
    counts: tuple[int, ...]
    """How many rows each file has."""
    loaded: list[Any] = field(default_factory=list)
    words: tuple[str, str] = ("image files in Parquet", "classes")

    def __len__(self) -> int:
        return sum(self.counts)

    def path(self, place: int) -> Path:
        starts = [0, *accumulate(self.counts)]
        file = bisect_right(starts, place) - 1
        return self.files[file] / f"row {place - starts[file]}"

    def load(self) -> None:
        """Read the images now: processes that are forked later share them."""
        if not self.loaded:
            self.loaded.append(_read_bytes(self.files, self.column))

    def content(self, place: int) -> bytes:
        self.load()
        data = self.loaded[0][place].as_buffer()
        if data is None:
            path = self.path(place)
            raise UnreadableImageError(f"{path}: there is no image in this row", "missing")
        found: bytes = data.to_pybytes()
        return found

    def picture(self, place: int) -> FilePicture:
        return open_picture(self.content(place), str(self.path(place)))

    def known(self, places: Int64[Tensor, " some"]) -> Iterator[bytes]:
        stats = [(file.name, file.stat()) for file in self.files]
        whole = b"".join(
            b"%s %d %d " % (os.fsencode(n), s.st_size, s.st_mtime_ns) for n, s in stats
        )
        yield from (b"%s%d\n" % (whole, place) for place in places.tolist())


def _read_bytes(files: tuple[Path, ...], column: str) -> Any:
    """Read a column of bytes, in as many chunks as there are: one might hold 2 GB and more."""
    _check_memory(files, column)
    found = read_column(files, column)
    if not arrow.types.is_struct(found.type):
        return found
    return arrow.chunked_array([chunk.field("bytes") for chunk in found.chunks], arrow.binary())


def read_column(files: tuple[Path, ...], column: str) -> Any:
    """Read one column of all files."""
    try:
        return parquet.read_table(list(files), columns=[column]).column(column)
    except (arrow.ArrowException, OSError) as error:
        there = ", ".join(str(file) for file in files)
        raise ValueError(f"data: {column} of {there} cannot be read: {error}") from error


def read_metadata(file: Path) -> Any:
    """Read what a Parquet file says of itself at its end."""
    try:
        return parquet.read_metadata(file)
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(
            f"data: {file} is no Parquet file that can be read: {error}; get it again"
        ) from error


def _check_memory(files: tuple[Path, ...], column: str) -> None:
    needed = 0
    for file in files:
        found = read_metadata(file)
        for group in range(found.num_row_groups):
            chunks = (found.row_group(group).column(n) for n in range(found.num_columns))
            needed += sum(
                chunk.total_uncompressed_size
                for chunk in chunks
                if chunk.path_in_schema.split(".")[0] == column
            )
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > MEMORY * there:
        raise ValueError(
            f"data: the images of {files[0].parent} are {needed / 2**30:.1f} GiB and are kept in "
            f"memory, of which there are {there / 2**30:.1f} GiB; needs them below half of it: "
            "write them to a folder as files, or use fewer of the Parquet files"
        )
