"""The encoded images of Parquet files, row by row."""

import hashlib
import os
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from counterpoint.data.identity import Identity, content_of, sampled_places
from counterpoint.data.notes import one_line
from counterpoint.data.pictures import StoredFile, UnreadableImageError

MEMORY = 0.5  # of the machine's; the rest is for training; our choice
ROWS = 1024  # that are read at a time


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The encoded images of Parquet files, read as a whole when the first is asked for."""

    files: tuple[Path, ...]
    column: str
    counts: tuple[int, ...]
    """How many rows each file has."""
    loaded: list[Any] = field(default_factory=list)
    kind: str = "parquet"
    ends: tuple[int, ...] = field(init=False, repr=False)
    """Where the rows of each file end."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", tuple(accumulate(self.counts)))

    def __len__(self) -> int:
        return sum(self.counts)

    def path(self, place: int) -> Path:
        file = bisect_right(self.ends, place)
        return self.files[file] / f"row {place - self.ends[file] + self.counts[file]}"

    def load(self) -> None:
        """Read the images now: processes that are forked later share them."""
        if not self.loaded:
            found = _read_bytes(self.files, self.column)
            if (there := found.ends[-1] if found.ends else 0) != len(self):
                raise ValueError(
                    f"data: the Parquet files of {self.files[0].parent} have {there:,} rows and "
                    f"say {len(self):,}; download them again"
                )
            self.loaded.append(found)

    def stored(self, place: int) -> StoredFile:
        self.load()
        found: bytes | None = self.loaded[0][place]
        path = self.path(place)
        if found is None:
            raise UnreadableImageError(f"{path}: there is no image in this row", "missing")
        return StoredFile(found, str(path))

    @property
    def unopened(self) -> dict[str, int]:
        return {}

    @property
    def shut(self) -> tuple[str, ...]:
        return ()

    def identity(self) -> Identity:
        digest = hashlib.blake2b(self.column.encode(), digest_size=32)
        for file, count in zip(self.files, self.counts, strict=True):
            digest.update(b"%s\0%d %d\n" % (os.fsencode(file.name), file.stat().st_size, count))
        return Identity(
            digest.digest(), content_of(self.files[n] for n in sampled_places(len(self.files)))
        )


def _read_bytes(files: tuple[Path, ...], column: str) -> "EncodedRows":
    """Read a column of bytes, in as many chunks as there are: one might hold 2 GB and more.

    What a file says of its size is looked at first, and not believed: it is counted what was
    read. Rows that share one entry of a dictionary are written once; they stay so in memory.
    """
    _check_memory(files, sum(said_bytes(file, column) for file in files))
    chunks: list[Any] = []
    total = 0
    for batch in _batches(files, column):
        found = batch.column(0)
        own = found.field("bytes") if arrow.types.is_struct(found.type) else found
        chunks.append(smaller_form(own))
        total += chunks[-1].nbytes
        _check_memory(files, total)
    return EncodedRows(tuple(chunks), tuple(accumulate(len(chunk) for chunk in chunks)))


def smaller_form(chunk: Any) -> Any:
    """Write rows out where that takes less memory than the dictionary they came with.

    Arrow hands each batch of a row group the dictionary of all rows before it.

    >>> import pyarrow
    >>> rows = pyarrow.array([b"an image"] * 9)
    >>> smaller_form(rows.dictionary_encode()).type
    DictionaryType(dictionary<values=binary, indices=int32, ordered=0>)
    >>> smaller_form(rows.dictionary_encode()[:1]).type
    DataType(binary)
    """
    if not arrow.types.is_dictionary(chunk.type):
        return chunk
    lengths = compute.binary_length(chunk.dictionary)
    written_out = compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return chunk.dictionary_decode() if written_out <= chunk.dictionary.nbytes else chunk


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRows:
    """Rows of bytes in chunks."""

    chunks: tuple[Any, ...]
    ends: tuple[int, ...]

    def __getitem__(self, row: int) -> bytes | None:
        chunk = bisect_right(self.ends, row)
        found: bytes | None = self.chunks[chunk][row - self.ends[chunk]].as_py()
        return found


def _batches(files: tuple[Path, ...], column: str) -> Iterator[Any]:
    for file in files:
        try:
            found = read_metadata(file)
            for group in range(found.num_row_groups):
                parts = [part for part in _parts(found, group, column) if _is_bytes(part)]
                shared = [part.path_in_schema for part in parts if part.has_dictionary_page]
                with parquet.ParquetFile(
                    file, metadata=found, memory_map=True, read_dictionary=shared
                ) as opened:
                    yield from opened.iter_batches(ROWS, row_groups=[group], columns=[column])
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(
                f"data: {column} of {file} cannot be read: {one_line(error)}"
            ) from error


def _is_bytes(part: Any) -> bool:
    return part.physical_type == "BYTE_ARRAY" and not part.path_in_schema.endswith(".path")


def said_bytes(file: Path, column: str) -> int:
    """Return the bytes of a column by the file's own word."""
    return uncompressed_bytes(read_metadata(file), column)


def uncompressed_bytes(footer: Any, column: str) -> int:
    """Return the bytes of a column by what a file says of itself at its end."""
    groups = range(footer.num_row_groups)
    return sum(p.total_uncompressed_size for n in groups for p in _parts(footer, n, column))


def _parts(found: Any, group: int, column: str) -> Iterator[Any]:
    """Return the parts of a column in a row group: bytes and path are two."""
    parts = (found.row_group(group).column(n) for n in range(found.num_columns))
    yield from (part for part in parts if part.path_in_schema.split(".")[0] == column)


def read_column(files: tuple[Path, ...], column: str) -> Any:
    """Read one column of all files."""
    try:
        return parquet.read_table(list(files), columns=[column]).column(column)
    except (arrow.ArrowException, OSError) as error:
        there = ", ".join(str(file) for file in files)
        raise ValueError(f"data: {column} of {there} cannot be read: {one_line(error)}") from error


def read_metadata(file: Path) -> Any:
    """Read what a Parquet file says of itself at its end."""
    try:
        return parquet.read_metadata(file)
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(
            f"data: {file} is not a readable Parquet file: {one_line(error)}; download it again"
        ) from error


def _check_memory(files: tuple[Path, ...], needed: int) -> None:
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    ranks = local_ranks()
    if needed * ranks > MEMORY * there:
        each = f" by each of {ranks} processes" if ranks > 1 else ""
        raise ValueError(
            f"data: the images of {files[0].parent} are at least {needed / 2**30:.1f} GiB and are "
            f"kept in memory{each}, of which there are {there / 2**30:.1f} GiB; needs them below "
            "half of it: write them to a folder as files, or use fewer of the Parquet files"
        )


def local_ranks() -> int:
    """Count the processes of this run on this machine, as far as their launcher says."""
    names = (
        "COUNTERPOINT_LOCAL_RANKS",
        "LOCAL_WORLD_SIZE",
        "SLURM_STEP_TASKS_PER_NODE",
        "WORLD_SIZE",
    )
    for name in names:
        if (said := os.environ.get(name, "").partition("(")[0]).isdecimal():  # 8(x2) is SLURM's
            return max(1, int(said))
    return 1
