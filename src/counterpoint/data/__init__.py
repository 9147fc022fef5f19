"""x: where images come from."""

import math

from torch import Tensor

from counterpoint.data.batches import Batches
from counterpoint.data.description import description_line
from counterpoint.data.files import Files
from counterpoint.data.fingerprint import fingerprint, fingerprint_difference
from counterpoint.data.layouts.cifar10 import cifar10
from counterpoint.data.layouts.detect import open_data
from counterpoint.data.layouts.image_folder import image_files
from counterpoint.data.layouts.imagenet import imagenet
from counterpoint.data.layouts.stl10 import stl10
from counterpoint.data.pictures import FilePicture, UnreadableImageError
from counterpoint.data.reading import first_readable
from counterpoint.data.source import Source, Splits
from counterpoint.framework.permutation import drawn

TRIED = 64  # files for each that is wanted: more than one in 64 is surely readable
SHOWN = 1 << 22  # pixels: more than a screen has
CUT = 128  # pixels; the side of ImageNet's views in the paper


def view_side(source: Source | Files, *, size: int | None = None) -> int:
    """Give the side that views are made in: `size`, else that of the images, or of cut files."""
    if size is not None:
        return size
    return CUT if isinstance(source, Files) else source.images.shape[-1]


def image_shape(source: Source | Files, *, size: int | None = None) -> tuple[int, ...]:
    """Give the shape that a method is built for: of the images, or of what files are cut to.

    Images in memory keep their size, whatever that of the views is: STL-10's 96 pixels become the
    paper's 64 in the views.

    >>> import torch
    >>> images = Source("some", torch.zeros(2, 3, 96, 96, dtype=torch.uint8))
    >>> image_shape(images, size=64), view_side(images, size=64)
    ((3, 96, 96), 64)
    """
    if isinstance(source, Files):
        side = view_side(source, size=size)
        return (3, side, side)
    return tuple(source.images.shape[1:])


def sample_images(source: Source | Files, count: int, *, seed: int) -> list[Tensor]:
    """Decode some images, drawn from all; each as bytes (channel, height, width)."""
    order = drawn(len(source), TRIED * count, seed=seed)
    if isinstance(source, Files):
        readable = first_readable(source, order, count=count)
        if not len(readable):
            raise ValueError(f"data: nothing of {source!r} can be read; see counterpoint doctor")
        return [_shown(*source.pictures(one)) for one in readable.split(1)]
    return list(source.images[order[:count]])


def _shown(picture: FilePicture) -> Tensor:
    """Decode a picture to look at; a large one at a fraction of its size."""
    return picture.decode(min(1.0, math.sqrt(SHOWN / (picture.height * picture.width))))


__all__ = [
    "Batches",
    "Files",
    "Source",
    "Splits",
    "UnreadableImageError",
    "cifar10",
    "description_line",
    "fingerprint",
    "fingerprint_difference",
    "image_files",
    "image_shape",
    "imagenet",
    "open_data",
    "sample_images",
    "stl10",
    "view_side",
]
