"""x: where images come from."""

from counterpoint.data.array_source import ArraySource
from counterpoint.data.batches import Batches
from counterpoint.data.conversion import as_source, as_splits
from counterpoint.data.description import description_line
from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.fingerprint import fingerprint_difference
from counterpoint.data.image_size import image_shape, view_side
from counterpoint.data.layouts.cifar10 import cifar10
from counterpoint.data.layouts.detect import open_data
from counterpoint.data.layouts.image_folder import image_files
from counterpoint.data.layouts.imagenet import imagenet
from counterpoint.data.layouts.stl10 import stl10
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.reading import sample_images
from counterpoint.data.source import Source
from counterpoint.data.splits import Splits

__all__ = [
    "ArraySource",
    "Batches",
    "EncodedSource",
    "Source",
    "Splits",
    "UnreadableImageError",
    "as_source",
    "as_splits",
    "cifar10",
    "description_line",
    "fingerprint_difference",
    "image_files",
    "image_shape",
    "imagenet",
    "open_data",
    "sample_images",
    "stl10",
    "view_side",
]
