"""x: where images come from."""

from pathlib import Path

import torch
from torch import Tensor

from counterpoint.data.batches import Batches
from counterpoint.data.cifar10 import cifar10
from counterpoint.data.files import Files, image_files
from counterpoint.data.fingerprint import fingerprint
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.source import Source, Splits
from counterpoint.framework.randomness import keyed_order

CUT = 128  # pixels; the side of ImageNet's views in the paper
HELD = 10  # one in ten labelled files is for validation, one for the test


def open_data(place: str | Path, *, limit: int | None = None) -> Splits:
    """Open a data set by its folder; `limit` takes only the first images of each split.

    Parquet files are CIFAR-10's; anything else is a folder of image files.
    """
    if not Path(place).is_dir():
        raise FileNotFoundError(f"data: there is no folder {place}")
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


def image_shape(source: Source | Files, *, size: int | None = None) -> tuple[int, ...]:
    """Give the shape that a method is built for: of the images, or of what files are cut to."""
    if isinstance(source, Files):
        return (3, size or CUT, size or CUT)
    return tuple(source.images.shape[1:])


def sample_images(source: Source | Files, count: int, *, seed: int) -> list[Tensor]:
    """Decode some images, drawn from all; each as bytes (channel, height, width)."""
    chosen = keyed_order(len(source), seed=seed, epoch=0)[:count]
    if isinstance(source, Files):
        return [picture.decode(1.0) for picture in source.pictures(chosen)]
    return list(source.images[chosen])


__all__ = [
    "Batches",
    "Files",
    "Source",
    "Splits",
    "UnreadableImageError",
    "cifar10",
    "fingerprint",
    "image_files",
    "image_shape",
    "open_data",
    "sample_images",
]
