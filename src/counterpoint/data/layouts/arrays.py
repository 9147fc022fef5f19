"""Images as numpy arrays in .npy and .npz files."""

from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from counterpoint.data.array_source import ArraySource
from counterpoint.data.cache import Arrays
from counterpoint.data.numpy_tensor import numpy_tensor

LARGE = 1 << 28  # bytes from which a .npy file is mapped into memory instead of read
SHAPES = "(n, height, width, 3), (n, 3, height, width) or grey (n, height, width)"


def array_file(file: str | Path) -> ArraySource:
    """Open a .npy file of images, or a .npz file of `images` and perhaps `labels`.

    Nothing in it is ever unpickled. A large .npy file is not read but mapped into memory.
    """
    file = Path(file)
    arrays = _loaded(file)
    if "images" not in arrays:
        there = ", ".join(arrays) or "nothing"
        raise ValueError(f"data: {file} holds {there}; needs an array named images")
    images = array_images(arrays["images"], str(file))
    return ArraySource(file.stem, images, _labels(arrays.get("labels"), len(images), file))


def _loaded(file: Path) -> Arrays:
    large = file.suffix == ".npy" and file.stat().st_size >= LARGE
    try:  # copy on write: what is written to a mapped array stays in memory
        found = np.load(file, mmap_mode="c" if large else None, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return {"images": found}
        with found:
            return {name: found[name] for name in found.files}
    except (ValueError, EOFError, OSError, BadZipFile) as error:
        raise ValueError(f"data: {file} is not a readable array: {error}") from error


def array_images(array: np.ndarray, where: str) -> UInt8[Tensor, "sample 3 height width"]:
    """Put channels first; grey becomes three channels, as it does in image files."""
    if array.dtype != np.uint8:
        raise ValueError(
            f"data: the images of {where} are {array.dtype}, needs uint8; "
            "numbers from 0 to 1 become (images * 255).round().astype(numpy.uint8)"
        )
    images = numpy_tensor(array)
    if images.ndim == 3:
        return images[:, None].expand(-1, 3, -1, -1)
    if images.ndim == 4 and images.shape[-1] in (1, 3):
        images = images.permute(0, 3, 1, 2)
    if images.ndim != 4 or images.shape[1] not in (1, 3):
        raise ValueError(f"data: the images of {where} are {array.shape}, needs {SHAPES}")
    return images.expand(-1, 3, -1, -1)


def _labels(array: np.ndarray | None, count: int, file: Path) -> Tensor | None:
    if array is None:
        return None
    if array.shape != (count,) or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(
            f"data: the labels of {file} are {array.dtype} {array.shape}, needs a whole number "
            f"for each of {count} images; leave them out where there are none"
        )
    if count and int(array.min()) < 0:
        raise ValueError(f"data: a label of {file} is {array.min()}; needs 0 and up")
    return torch.from_numpy(array.astype(np.int64))
