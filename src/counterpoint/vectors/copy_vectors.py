"""The vectors of copies of some images, by which near-duplicates are calibrated without labels."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as arrow
import torch
from jaxtyping import Float, Float16, Int64, UInt8
from torch import Tensor
from torch.utils.data import Dataset
from torchvision.transforms.functional import resize

from counterpoint.data import Source, UnreadableImageError
from counterpoint.data.batch import Batch, bad_rows
from counterpoint.data.decoded_picture import DecodedPicture
from counterpoint.data.source import Cut
from counterpoint.framework.permutation import drawn
from counterpoint.framework.records import Cuts, Draw, Index
from counterpoint.vectors.copies import LONGEST, copied
from counterpoint.vectors.numbered_splits import NumberedSplits
from counterpoint.vectors.part_file import (
    as_half,
    stored_table,
    vector_column,
    vectors_of,
    write_table,
)
from counterpoint.whole_file import whole_file

FILE = "views.parquet"
SEED = 0x7669657773  # "views": which images, the same for everyone
SOME = 20  # copies that are made and encoded together


class CopyVectors(NamedTuple):
    """Vectors of copies: row n is copy number `copies[n]` of image `samples[n]`."""

    samples: Int64[Tensor, " row"]
    copies: Int64[Tensor, " row"]
    vectors: Float16[Tensor, "row feature"]


class CopyPiece(NamedTuple):
    """Images of one split that are copied together: their numbers, and those of the copies."""

    split: int
    numbers: list[int]
    copies: list[int]


class MadeCopies(NamedTuple):
    """Copies that are ready to be encoded, and what they are of."""

    samples: list[int]
    copies: list[int]
    batch: Batch


@dataclass(frozen=True, slots=True, eq=False)
class CopyMaker(Dataset[MadeCopies]):
    """What a worker does: decode images, copy them as people do, and cut the copies."""

    splits: NumberedSplits
    cut: Cut

    def __getitem__(self, piece: CopyPiece) -> MadeCopies:
        source, start = self.splits.sources[piece.split], self.splits.start(piece.split)
        made = []
        for number, copy in zip(piece.numbers, piece.copies, strict=True):
            pixels = _pixels(source, number)
            if pixels is not None and max(pixels.shape[1:]) <= LONGEST:
                made.append((number, copy, copied(pixels, sample=start + number, copy=copy)))
        index = torch.tensor([number for number, _, _ in made], dtype=torch.int64)
        images = [image for _, _, image in made]
        return MadeCopies(
            [start + number for number, _, _ in made],
            [copy for _, copy, _ in made],
            Batch(self._seen(source, images, index), index, bad_rows([])),
        )

    def _seen(self, source: Source, images: list[Tensor], index: Index) -> Tensor | Cuts:
        if not images:
            return ()
        if source.one_shape is None:
            return self.cut([DecodedPicture(i, "copy", "RGB") for i in images], Draw(0, 0, index))
        # The encoder sees these images as they are: a copy gets their size back.
        size = list(source.one_shape[1:])
        return torch.stack([resize(image, size, antialias=True) for image in images])


def copy_pieces(splits: NumberedSplits, count: int) -> list[CopyPiece]:
    """Choose the images that are copied: a function of how many there are, and of nothing else.

    Copy number n is made of the n-th that is drawn, so that each kind of copy is made of a fifth.
    """
    chosen = drawn(len(splits), count, seed=SEED)
    pieces = []
    for split, source in enumerate(splits.sources):
        here = chosen - splits.start(split)
        copies = ((here >= 0) & (here < len(source))).nonzero().flatten()
        pieces += [CopyPiece(split, here[c].tolist(), c.tolist()) for c in copies.split(SOME)]
    return [piece for piece in pieces if piece.copies]


def _pixels(source: Source, number: int) -> UInt8[Tensor, "channel height width"] | None:
    if number in source.bad:
        return None
    try:
        return source.stored(number).picture().decode(1.0)
    except UnreadableImageError:
        return None


def write_copies(
    path: Path, samples: list[int], copies: list[int], vectors: Float[Tensor, "row feature"]
) -> None:
    """Write the vectors of copies at once."""
    whole = as_half(vectors).numpy()
    column = vector_column(whole, np.ones(len(whole), bool))
    table = arrow.table({"sample": samples, "copy": copies, "vector": column})
    with whole_file(path) as unfinished:
        write_table(table, unfinished)


def read_copies(path: Path, width: int) -> CopyVectors:
    """Read the vectors of copies."""
    table = stored_table(path)
    return CopyVectors(
        torch.tensor(table["sample"].to_pylist(), dtype=torch.int64),
        torch.tensor(table["copy"].to_pylist(), dtype=torch.int64),
        vectors_of(table["vector"], width),
    )
