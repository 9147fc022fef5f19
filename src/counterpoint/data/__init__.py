"""x: where images come from."""

from pathlib import Path

import torch

from counterpoint.data.batches import Batches
from counterpoint.data.cifar10 import cifar10
from counterpoint.data.files import Files, image_files
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.source import Source, Splits
from counterpoint.framework.randomness import keyed_order

HELD = 10  # one in ten labelled files is for validation, one for the test


def open_data(place: str | Path, *, limit: int | None = None) -> Splits:
    """Open a data set by its folder; `limit` takes only the first images of each split.

    Parquet files are CIFAR-10's; anything else is a folder of image files.
    """
    splits = cifar10(place) if any(Path(place).glob("*.parquet")) else folder(place)
    return splits if limit is None else splits.head(limit)


def folder(place: str | Path) -> Splits:
    """Open a folder of image files: all of them to train on, or eight in ten with labels."""
    files = image_files(place)
    held = 0 if files.labels is None else len(files) // HELD
    order = keyed_order(len(files), seed=0, epoch=0)
    rest, validation, test = torch.split(order, [len(files) - 2 * held, held, held])
    return Splits(
        files.subset("train", rest.sort().values),
        files.subset("validation", validation.sort().values),
        files.subset("test", test.sort().values),
    )


__all__ = [
    "Batches",
    "Files",
    "Source",
    "Splits",
    "UnreadableImageError",
    "cifar10",
    "image_files",
    "open_data",
]
