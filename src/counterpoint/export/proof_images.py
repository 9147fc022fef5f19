"""The images that every route embeds: real ones, or ones that anybody can make again."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from counterpoint.data import Source, sample_images
from counterpoint.evaluation.representation import Representation
from counterpoint.export.pixel_recipe import PICTURES

COUNT = 64
ORIENTATION, TURNED = 0x0112, 6  # of EXIF: to be seen a quarter turn clockwise
CELLS = 6  # of the colours that a generated image fades between
Bytes = UInt8[Tensor, "image channel height width"]


def canvas(representation: Representation) -> tuple[int, int]:
    """Return a height that no resize changes, and a width of which the centre is cut.

    Where nothing is resampled, Pillow, torch and our own views agree to the bit, so that the
    proof can be strict about all the rest.
    """
    evaluation = representation.model.views.evaluation
    first = next(iter(getattr(evaluation, "stages", ())), None)
    side = getattr(first, "short", None) or _side(evaluation.shapes[0])
    return int(side), int(side) + max(2, int(side) // 8)


def _side(shape: tuple[int, ...]) -> int:
    """Return the side of a view; of patches, something that covers them."""
    return shape[-1] if len(shape) == 3 else shape[0] * shape[-1]


def generated_images(channels: int, size: tuple[int, int]) -> Bytes:
    """Make smooth coloured images from a fixed seed, the same on every machine."""
    numbers = np.random.default_rng(0)
    images = []
    for _ in range(COUNT):
        levels = numbers.integers(0, 256, (channels, CELLS, CELLS), dtype=np.uint8)
        planes = (Image.fromarray(plane) for plane in levels)
        smooth = (plane.resize(size[::-1], Image.Resampling.BILINEAR) for plane in planes)
        images.append(np.stack([np.asarray(plane) for plane in smooth]))
    return torch.from_numpy(np.stack(images))


def real_images(source: Source, size: tuple[int, int]) -> Bytes:
    """Take images of a data set, brought to one size; those of a small one come again."""
    found = sample_images(source, COUNT, seed=0)
    brought = [F.interpolate(image[None], size, mode="bilinear", antialias=True) for image in found]
    return torch.cat((brought * COUNT)[:COUNT])


def as_pictures(images: Bytes) -> list[Image.Image]:
    """Return PIL images, as a user has them."""
    rows = images.permute(0, 2, 3, 1).numpy()
    assert rows.shape[3] in PICTURES
    return [Image.fromarray(row[..., 0] if row.shape[2] == 1 else row) for row in rows]


def odd_pictures(picture: Image.Image) -> list[Image.Image]:
    """Return pictures as files have them: turned by EXIF, with transparency, and of 16 bits."""
    turned = picture.transpose(Image.Transpose.ROTATE_90)
    turned.getexif()[ORIENTATION] = TURNED
    clear = picture.convert("RGBA")
    clear.putalpha(picture.convert("L"))
    deep = Image.fromarray(np.asarray(picture.convert("L")).astype(np.uint16) << 8)
    return [turned, clear, deep]


def write_pictures(folder: Path, pictures: Sequence[Image.Image]) -> None:
    """Write pictures in the order of their names, as PNG, which loses nothing."""
    for number, picture in enumerate(pictures):
        picture.save(folder / f"{number:03d}.png", exif=picture.getexif())


def write_images(file: Path, images: Bytes, vectors: Tensor) -> None:
    """Write images (image, height, width, channel), and what they are embedded as."""
    rows = images.permute(0, 2, 3, 1).numpy()
    np.savez_compressed(file, images=rows, vectors=vectors.numpy())
