"""What a worker does: read images, know their bytes by a digest, and cut them for the encoder."""

import hashlib
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import Dataset

from counterpoint.data import Source, UnreadableImageError
from counterpoint.data.batch import Batch, bad_rows
from counterpoint.data.packed_names import shown
from counterpoint.data.reading import WAITING, known_bad
from counterpoint.data.source import Cut, StoredPicture
from counterpoint.framework.records import Cuts, Draw
from counterpoint.vectors.numbered_splits import NumberedSplits, Piece


@dataclass(slots=True)
class StoredRow:
    """One image as it is stored: a row of a part without its vector."""

    path: str | None
    label: int | None
    sha256: bytes | None = None
    """Of the bytes of the file, or of the pixels."""
    bytes: int | None = None
    height: int | None = None
    width: int | None = None
    error: str | None = None
    """Why it cannot be read."""


class ReadPiece(NamedTuple):
    """A piece, read: a row for each image, and the images that can be encoded."""

    piece: Piece
    rows: list[StoredRow]
    batch: Batch


@dataclass(frozen=True, slots=True, eq=False)
class RowReader(Dataset[ReadPiece]):
    """Reads pieces; each file is read once, for its digest and for its pixels."""

    numbers: NumberedSplits
    cut: Cut
    root: str
    """Paths are relative to it."""

    def __getitem__(self, piece: Piece) -> ReadPiece:
        source = self.numbers.sources[piece.split]
        index = torch.arange(piece.first, piece.end)
        rows = _known(source, index, self.root)
        read = _in_memory if source.one_shape is not None else _decoded
        return ReadPiece(piece, rows, read(source, self.cut, index, rows))


def _known(source: Source, index: Tensor, root: str) -> list[StoredRow]:
    labels = _labels(source, index)
    paths = (_relative(source.path(sample), root) for sample in index.tolist())
    rows = [StoredRow(path, label) for path, label in zip(paths, labels, strict=True)]
    for row, sample in zip(rows, index.tolist(), strict=True):
        if sample in source.bad:
            row.error = source.bad[sample]
    return rows


def _labels(source: Source, index: Tensor) -> list[int | None]:
    """Return the label of each image; None for an item without one beside others that have one."""
    if not source.has_labels:
        return [None] * len(index)
    try:
        return [*source.labels_of(index).tolist()]
    except ValueError:  # one of these has none: ask for each alone
        if len(index) == 1:
            return [None]
    return [label for one in index.split(1) for label in _labels(source, one)]


def _relative(path: str | None, root: str) -> str | None:
    """Write a path relative to a folder that it lies in; names that are no text are escaped.

    Of data that was given as a value no folder is known, and a file is found by its whole path.

    >>> _relative("/data/photos/cat/1.jpg", "/data/photos"), _relative("/other.jpg", "/data")
    ('cat/1.jpg', '/other.jpg')
    >>> _relative("/data/photos/cat/1.jpg", "")
    '/data/photos/cat/1.jpg'
    """
    if path is None:
        return None
    if root == "" and Path(path).is_file():  # not so a row of Parquet, or a name within a shard
        path = str(Path(path).absolute())
    inside = root != "" and path.startswith(root.rstrip("/") + "/")
    return shown(os.fsencode(path[len(root.rstrip("/")) + 1 :] if inside else path))


def _in_memory(source: Source, cut: Cut, index: Tensor, rows: list[StoredRow]) -> Batch:
    """Take images of one size as they are."""
    batch = source.read(cut, Draw(0, 0, index), substitute=False)
    assert isinstance(batch.images, Tensor), f"{source!r}: images of one shape are read as they are"
    height, width = batch.images.shape[-2:]
    size = math.prod(batch.images.shape[1:])
    lost = set(index.tolist()) - set(batch.index.tolist())
    for sample, kind in known_bad(source, lost).items():
        if sample in lost:
            rows[sample - int(index[0])].error = kind
    content = batch.images.contiguous().numpy().reshape(-1).data
    for place, row in enumerate(row for row in rows if row.error is None):
        row.sha256 = hashlib.sha256(content[place * size : (place + 1) * size]).digest()
        row.bytes, row.height, row.width = size, height, width
    return batch


def _decoded(source: Source, cut: Cut, index: Tensor, rows: list[StoredRow]) -> Batch:
    """Read, decode and cut pictures; some files wait in memory, one is decoded at a time."""
    parts: list[Cuts] = []
    waiting: list[tuple[int, StoredRow, StoredPicture]] = []
    for sample, row in zip(index.tolist(), rows, strict=True):
        picture = None if row.error is not None else _picture(source, sample, row)
        if picture is not None:
            waiting.append((sample, row, picture))
        if sum(picture.nbytes for _, _, picture in waiting) > WAITING:
            parts += _cut(cut, waiting, index)
            waiting = []
    parts += _cut(cut, waiting, index)
    good = torch.tensor([row.error is None for row in rows])
    cuts = tuple(torch.cat(views) for views in zip(*parts, strict=True))
    return Batch(cuts, index[good], bad_rows([]))


def _picture(source: Source, sample: int, row: StoredRow) -> StoredPicture | None:
    """Read one file and its header, and note what it is known by; or why it cannot be read."""
    try:
        stored = source.stored(sample).loaded()
        row.sha256, row.bytes = hashlib.sha256(stored.content).digest(), len(stored.content)
        picture = stored.picture()
    except UnreadableImageError as error:
        row.error = _words(error, row.path)
        return None
    row.height, row.width = picture.height, picture.width
    return picture


def _cut(
    cut: Cut, waiting: list[tuple[int, StoredRow, StoredPicture]], index: Tensor
) -> list[Cuts]:
    """Cut pictures; where one cannot be decoded, one by one."""
    if not waiting:
        return []
    try:
        samples = torch.tensor([sample for sample, _, _ in waiting], dtype=index.dtype)
        return [cut([picture for _, _, picture in waiting], Draw(0, 0, samples))]
    except UnreadableImageError as error:
        if len(waiting) == 1:
            waiting[0][1].error = _words(error, waiting[0][1].path)
            return []
    return [cuts for one in waiting for cuts in _cut(cut, [one], index)]


def _words(error: UnreadableImageError, path: str | None) -> str:
    """Say why an image cannot be read; its name stands beside it.

    >>> _words(UnreadableImageError("photos/cat: 1.jpg: the file is empty", "empty"), "cat: 1.jpg")
    'empty: the file is empty'
    """
    said = shown(os.fsencode(str(error)))
    why = said.partition(f"{path}: ")[2] or said.partition(": ")[2] or said
    return f"{error.kind}: {why}"
