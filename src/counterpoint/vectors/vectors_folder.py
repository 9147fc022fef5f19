"""Vectors: a folder that `counterpoint embed` wrote, opened."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as arrow
import torch
from jaxtyping import Float16, Int64
from torch import Tensor

from counterpoint.data import UnreadableImageError, open_data
from counterpoint.data.packed_names import named, shown
from counterpoint.data.pictures import FileOnDisk
from counterpoint.data.source import StoredPicture
from counterpoint.progress import tracked
from counterpoint.vectors.copy_vectors import FILE as COPIES
from counterpoint.vectors.copy_vectors import CopyVectors, read_copies
from counterpoint.vectors.numbered_splits import NumberedSplits
from counterpoint.vectors.part_file import (
    finished_parts,
    part_path,
    stored_table,
    vectors_of,
)
from counterpoint.vectors.vectors_record import VectorsRecord


class PartVectors(NamedTuple):
    """The readable images of one part."""

    samples: Int64[Tensor, " row"]
    vectors: Float16[Tensor, "row feature"]


class Unreadable(NamedTuple):
    """An image without a vector."""

    sample: int
    path: str | None
    error: str


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of a data set. Rows are the images that could be read, in the order of samples.

    `matrix()`, `samples`, `paths`, `labels`, `splits`, `sha256`, `bytes` and `sizes` have the same
    rows. What is as long as the data is read when it is first asked for; `parts()` goes through
    vectors that do not fit into memory.

    >>> from tempfile import TemporaryDirectory
    >>> from counterpoint import embed_data, open_encoder
    >>> from counterpoint.data import as_splits
    >>> images = as_splits(torch.zeros(6, 3, 16, 16, dtype=torch.uint8))
    >>> with TemporaryDirectory() as folder:
    ...     run = open_encoder(encoder="small", size=16)
    ...     written = embed_data(run, images, folder, copies=0, workers=0)
    ...     Vectors.open(folder).width
    256
    """

    folder: Path
    record: VectorsRecord

    @classmethod
    def open(cls, folder: str | Path) -> "Vectors":
        """Open a folder of vectors; all of its parts have to be there."""
        folder = Path(folder)
        record = VectorsRecord.read(folder)
        missing = record.parts - len(finished_parts(folder) & {*range(record.parts)})
        if missing:
            raise ValueError(
                f"vectors: {missing:,} of {record.parts:,} parts of {folder} are missing; run the "
                "same counterpoint embed again; it resumes where it stopped"
            )
        return cls(folder, record)

    def __repr__(self) -> str:
        where = "" if self.record.data["path"] is None else f" of {self.record.data['path']}"
        return (
            f"vectors in {self.folder}: {self.record.count:,} images{where}, "
            f"{self.width} numbers each, by {self.record.encoder['name']}"
        )

    @property
    def count(self) -> int:
        """How many images could be read: the number of rows."""
        return len(self.samples)

    @property
    def width(self) -> int:
        """The length of a vector."""
        return self.record.width

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the labels, where they are known."""
        return None if self.record.classes is None else tuple(self.record.classes)

    @cached_property
    def samples(self) -> Int64[Tensor, " row"]:
        """The number of each row's image, counted over train, validation and test."""
        return self._numbers("sample")

    @cached_property
    def splits(self) -> list[str]:
        """The split of each row."""
        return [*self._column("split").to_pylist()]

    @cached_property
    def paths(self) -> list[str | None]:
        """The path of each row relative to the data's folder; None for images without files."""
        return [*self._column("path").to_pylist()]

    @cached_property
    def labels(self) -> Int64[Tensor, " row"] | None:
        """The label of each row, -1 where one has none; None where no image has one."""
        found = self._column("label")
        return None if found.null_count == len(found) else _whole(found.fill_null(-1))

    @cached_property
    def sha256(self) -> list[bytes]:
        """The digest of each row's stored bytes; of its pixels where all images have one size."""
        return [*self._column("sha256").to_pylist()]

    @cached_property
    def bytes(self) -> Int64[Tensor, " row"]:
        """How many bytes each row's image has, as it is stored or in its pixels."""
        return self._numbers("bytes")

    @cached_property
    def sizes(self) -> Int64[Tensor, "row 2"]:
        """Height and width of each row's image in pixels."""
        return torch.stack([self._numbers("height"), self._numbers("width")], dim=1)

    @cached_property
    def unreadable(self) -> list[Unreadable]:
        """The images without a vector, and why."""
        table = self._table(["sample", "path", "error"])
        rows = table.filter(table["error"].is_valid()).to_pylist()
        return [Unreadable(**row) for row in rows]

    def matrix(self) -> Float16[Tensor, "row feature"]:
        """Return all vectors as one tensor, as the encoder gave them: not normalised."""
        return self._matrix

    @cached_property
    def _matrix(self) -> Float16[Tensor, "row feature"]:
        whole = torch.empty(self.count, self.width, dtype=torch.float16)
        first = 0
        for part in self.parts():
            whole[first : first + len(part.vectors)] = part.vectors
            first += len(part.vectors)
        return whole

    def parts(self) -> Iterator[PartVectors]:
        """Go through the vectors part by part: memory is that of one."""
        for part in tracked(range(self.record.parts), f"reading {self.folder}"):
            yield self._part(part)

    def _part(self, part: int) -> PartVectors:
        table = stored_table(part_path(self.folder, part), ["sample", "vector"])
        rows = table.filter(table["vector"].is_valid()).combine_chunks()
        return PartVectors(_whole(rows["sample"]), vectors_of(rows["vector"], self.width))

    def some(self, rows: Sequence[int]) -> Float16[Tensor, "some feature"]:
        """Return the vectors of some rows; only their parts are read."""
        samples = self.samples[list(rows)]
        found = torch.zeros(len(rows), self.width, dtype=torch.float16)
        for part in (samples // self.record.part_size).unique().tolist():
            numbers, vectors = self._part(part)
            here = (samples // self.record.part_size == part).nonzero().flatten()
            found[here] = vectors[torch.searchsorted(numbers, samples[here])]
        return found

    def copies(self) -> CopyVectors | None:
        """Return the vectors of copies of some images; None where none were made."""
        path = self.folder / COPIES
        return read_copies(path, self.width) if path.is_file() else None

    def picture(self, sample: int) -> StoredPicture | None:
        """Open the picture of an image, to look at; None where it is not there any more."""
        file = self.file(sample)
        try:
            if file is not None:
                return FileOnDisk(file).picture()
            if self._numbered is None:
                return None
            source, number = self._numbered.place(sample)
            return source.stored(number).picture()
        except UnreadableImageError:
            return None

    def file(self, sample: int) -> Path | None:
        """Find the file of an image; None where it is not there any more, or never was."""
        root, path = Path(self.record.data["path"] or ""), self._path_of(sample)
        names = () if path is None else (path, os.fsdecode(named(path)))
        return next((root / name for name in names if (root / name).is_file()), None)

    def full_path(self, sample: int) -> str | None:
        """Return where the file of an image was; None for images without files."""
        path = self._path_of(sample)
        root = shown(os.fsencode(self.record.data["path"] or ""))
        return None if path is None else os.path.join(root, path)  # noqa: PTH118 (a row of Parquet has a path too)

    @cached_property
    def _numbered(self) -> NumberedSplits | None:
        """The images themselves, if they are where they were and as many."""
        path = self.record.data["path"]
        if path is None or not Path(path).exists():
            return None
        found = NumberedSplits.of(open_data(path, limit=self.record.data["limit"]))
        return found if found.counts == self.record.splits else None

    def _path_of(self, sample: int) -> str | None:
        row = int(torch.searchsorted(self.samples, sample))
        if row == self.count or int(self.samples[row]) != sample:
            raise ValueError(f"vectors: {self.folder} has no vector of sample {sample}")
        return self.paths[row]

    def _column(self, name: str) -> Any:
        """Read a column, without the rows that have no vector."""
        table = self._table([name, "error"])
        return table.filter(table["error"].is_null())[name]

    def _numbers(self, name: str) -> Int64[Tensor, " row"]:
        return _whole(self._column(name))

    def _table(self, columns: Sequence[str]) -> Any:
        files = (part_path(self.folder, part) for part in range(self.record.parts))
        return arrow.concat_tables(stored_table(file, columns) for file in files)


def _whole(column: Any) -> Int64[Tensor, " row"]:
    return torch.from_numpy(column.to_numpy().astype("int64"))
