"""One item of somebody's dataset: which part of it is the image, and which the label."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from counterpoint.data.decoded_picture import StoredPixels
from counterpoint.data.numpy_tensor import numpy_tensor
from counterpoint.data.pictures import StoredFile, read_file
from counterpoint.data.source import StoredImage
from counterpoint.data.strips import upright

IMAGES = ("image", "img", "pixel_values", "picture")
LABELS = ("label", "labels", "fine_label", "target")
ORIENTATION = 0x0112  # of EXIF
NEEDS = (
    "needs a PIL image, a uint8 or float tensor or array (channels, height, width), "
    "a path or the bytes of a file; alone, first in a tuple, or under 'image' in a dict"
)


def image_in(item: Any) -> Any:
    """Find the image of an item.

    >>> image_in(("picture", 3)), image_in({"label": 3, "image": "picture"})
    ('picture', 'picture')
    """
    if isinstance(item, Mapping) and not _is_file(item):
        name = next((name for name in IMAGES if name in item), None)
        if name is None:
            raise TypeError(f"an item has {', '.join(map(str, item)) or 'nothing'}; {NEEDS}")
        return item[name]
    return item[0] if isinstance(item, tuple | list) and item else item


def label_in(item: Any) -> int | None:
    """Find the label of an item: a whole number, 0 or more.

    >>> label_in(("picture", 3)), label_in({"image": "picture", "label": 4}), label_in("picture")
    (3, 4, None)
    """
    found: Any = None
    if isinstance(item, Mapping):
        found = next((item[name] for name in LABELS if name in item), None)
    elif isinstance(item, tuple | list) and len(item) > 1:
        found = item[1]
    if isinstance(found, Tensor | np.ndarray | np.generic) and found.ndim == 0:
        found = found.item()
    return found if type(found) is int and found >= 0 else None


def stored_image(image: Any, name: str) -> StoredImage:
    """Take an image as a dataset gives it.

    >>> stored_image(torch.ones(1, 2, 2), "item 0").picture().decode(1.0)[:, 0, 0]
    tensor([255, 255, 255], dtype=torch.uint8)
    """
    if isinstance(image, bytes):
        return StoredFile(image, name)
    if isinstance(image, str | Path):
        return StoredFile(read_file(Path(image)), str(image))
    if isinstance(image, Mapping) and _is_file(image):  # as Hugging Face gives it with decode=False
        content = image.get("bytes")
        return stored_image(image["path"] if content is None else content, name)
    if isinstance(image, Image.Image):
        image.load()  # Pillow turns a TIFF by itself, and then says that it is upright
        orientation = image.getexif().get(ORIENTATION, 1)
        known = orientation if orientation in range(1, 9) else 1
        return StoredPixels(upright(image, known), "PIL", image.mode)
    if isinstance(image, np.ndarray):
        image = numpy_tensor(image)
    if isinstance(image, Tensor):
        pixels = _pixels(image)
        return StoredPixels(pixels, "array", "RGB")
    raise TypeError(f"got {type(image).__module__}.{type(image).__name__}; {NEEDS}")


def _is_file(image: Mapping[Any, Any]) -> bool:
    return {"bytes", "path"} <= image.keys()


def _pixels(image: Tensor) -> UInt8[Tensor, "3 height width"]:
    """Bring an array to bytes (3, height, width); grey becomes three channels."""
    shape = tuple(image.shape)
    if image.ndim == 2:
        image = image[None]
    if image.ndim == 3 and image.shape[0] not in (1, 3) and image.shape[-1] in (1, 3):
        image = image.permute(2, 0, 1)
    if image.ndim != 3 or image.shape[0] not in (1, 3) or not image.numel():
        raise TypeError(f"got an array {shape}; needs 1 or 3 channels, first or last")
    return _bytes(image).expand(3, -1, -1).contiguous()


def _bytes(image: Tensor) -> UInt8[Tensor, "channel height width"]:
    if image.dtype == torch.uint8:
        return image
    if not image.is_floating_point():
        raise TypeError(f"got an array of {image.dtype}; needs uint8, or floats from 0 to 1")
    low, high = float(image.min()), float(image.max())
    if not (low >= 0 and high <= 1):
        raise TypeError(
            f"got floats from {low:.3g} to {high:.3g}; needs 0 to 1: leave the normalisation "
            "out of the dataset's transform, the method's views do it"
        )
    return (image.float() * 255).round().to(torch.uint8)
