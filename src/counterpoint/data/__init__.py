"""x: where images come from."""

from torch import Tensor

from counterpoint.data.batches import Batches
from counterpoint.data.cifar10 import cifar10
from counterpoint.data.files import Files
from counterpoint.data.fingerprint import fingerprint
from counterpoint.data.folder import image_files
from counterpoint.data.imagenet import imagenet
from counterpoint.data.opening import open_data
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.reading import first_readable
from counterpoint.data.source import Source, Splits
from counterpoint.data.stl10 import stl10
from counterpoint.framework.randomness import keyed_order

CUT = 128  # pixels; the side of ImageNet's views in the paper


def image_shape(source: Source | Files, *, size: int | None = None) -> tuple[int, ...]:
    """Give the shape that a method is built for: of the images, or of what files are cut to."""
    if isinstance(source, Files):
        return (3, size or CUT, size or CUT)
    return tuple(source.images.shape[1:])


def sample_images(source: Source | Files, count: int, *, seed: int) -> list[Tensor]:
    """Decode some images, drawn from all; each as bytes (channel, height, width)."""
    order = keyed_order(len(source), seed=seed, epoch=0)
    if isinstance(source, Files):
        readable = first_readable(source, order, count=count)
        if not len(readable):
            raise ValueError(f"data: nothing of {source!r} can be read; see counterpoint doctor")
        return [picture.decode(1.0) for picture in source.pictures(readable)]
    return list(source.images[order[:count]])


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
    "imagenet",
    "open_data",
    "sample_images",
    "stl10",
]
