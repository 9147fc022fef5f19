"""Copies of a picture as people make them: saved again, resized, cropped, recoloured.

A picture and its copy are a pair that is known to be a duplicate. The vectors of such pairs say,
without a label, how near duplicates are for one encoder (`curate` reads them).
"""

import io

import torch
from jaxtyping import UInt8
from PIL import Image, ImageEnhance
from torch import Tensor
from torchvision.transforms.functional import pil_to_tensor, to_pil_image

from counterpoint.framework.philox import LOW, philox

COPY_KINDS = ("re-encoded", "resized", "cropped", "recoloured", "combined")
"""Copy number n of a picture is of kind n modulo 5."""

COPY_KEY = 0x636F7079  # "copy": no view and no order draws under this key
NUMBERS = 12  # numbers a copy draws, whatever its kind: three blocks of Philox
QUALITY = (30, 90)  # of JPEG
SCALE = (0.3, 0.9)  # of both sides
CROP = 0.15  # most that is cut from an edge
BRIGHTNESS, CONTRAST, SATURATION = (0.6, 1.4), (0.6, 1.4), (0.3, 1.7)
GREY = 0.2  # share of the recoloured copies that lose all colour
LEAST = 8  # pixels of a side that is left
LONGEST = 65_500  # pixels of a side that Pillow saves as a JPEG
SAVED = 92  # quality at which a resized, cropped or recoloured picture is saved

Picture = UInt8[Tensor, "channel height width"]
Copy = UInt8[Tensor, "channel _ _"]


def copied(picture: Picture, *, sample: int, copy: int, seed: int = 0) -> Copy:
    """Return copy number `copy` of a sample: a function of its pixels and of the three numbers.

    Every copy passes through a JPEG file, as copies do. Pictures of one channel stay so; those of
    two, or of more than three, are only resized and cropped, as no such file holds them.

    >>> pixels = torch.arange(3 * 40 * 60, dtype=torch.int64).remainder(251).byte().view(3, 40, 60)
    >>> [tuple(copied(pixels, sample=7, copy=n).shape[1:]) for n in range(5)]
    [(40, 60), (35, 53), (35, 53), (40, 60), (18, 30)]
    >>> again = copied(pixels, sample=7, copy=4)
    >>> torch.equal(copied(pixels, sample=7, copy=4), again)
    True
    """
    draws = _draws(sample, copy, seed)
    if len(picture) not in (1, 3):
        return torch.cat([_copied(one[None], copy, draws, file=False) for one in picture])
    return _copied(picture, copy, draws, file=True)


def copy_kind(copy: int) -> str:
    """Return what was done to copy number `copy`.

    >>> copy_kind(6)
    'resized'
    """
    return COPY_KINDS[copy % len(COPY_KINDS)]


def _copied(picture: Picture, copy: int, draws: list[float], *, file: bool) -> Copy:
    kind = copy_kind(copy)
    image = to_pil_image(picture)
    if kind in ("cropped", "combined"):
        image = _cropped(image, draws[0:4])
    if kind in ("resized", "combined"):
        image = _resized(image, _between(SCALE, draws[4]))
    if file and kind in ("recoloured", "combined"):
        image = _recoloured(image, draws[5:9])
    if file:
        low, high = QUALITY
        drawn = kind in ("re-encoded", "combined")
        image = _saved(image, low + int(draws[9] * (high + 1 - low)) if drawn else SAVED)
    pixels: Tensor = pil_to_tensor(image).contiguous()
    return pixels


def _draws(sample: int, copy: int, seed: int) -> list[float]:
    """Return numbers in [0, 1)."""
    block = torch.arange(NUMBERS // 4)
    place = (torch.full_like(block, n) for n in (sample & LOW, sample >> 32, copy))
    first, second, third = place
    words = philox((first, second, third, block), ((seed ^ COPY_KEY) & LOW, (seed >> 32) & LOW))
    numbers: list[float] = (torch.stack(words, dim=-1).flatten().double() * 2.0**-32).tolist()
    return numbers


def _between(bounds: tuple[float, float], draw: float) -> float:
    return bounds[0] + draw * (bounds[1] - bounds[0])


def _cropped(image: Image.Image, draws: list[float]) -> Image.Image:
    """Cut up to 15 % from each edge."""
    left, top, right, bottom = (draw * CROP for draw in draws)
    wide, high = image.size
    box = (
        *(round(left * wide), round(top * high)),
        *(round((1 - right) * wide), round((1 - bottom) * high)),
    )
    return image if min(box[2] - box[0], box[3] - box[1]) < LEAST else image.crop(box)


def _resized(image: Image.Image, scale: float) -> Image.Image:
    wide, high = (max(min(LEAST, side), round(side * scale)) for side in image.size)
    return image.resize((wide, high), Image.Resampling.BICUBIC)


def _recoloured(image: Image.Image, draws: list[float]) -> Image.Image:
    """Change brightness, contrast and saturation; every fifth loses all colour."""
    image = ImageEnhance.Brightness(image).enhance(_between(BRIGHTNESS, draws[0]))
    image = ImageEnhance.Contrast(image).enhance(_between(CONTRAST, draws[1]))
    if image.mode == "L":
        return image
    kept = 0.0 if draws[3] < GREY else _between(SATURATION, draws[2])
    return ImageEnhance.Color(image).enhance(kept)


def _saved(image: Image.Image, quality: int) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer).convert(image.mode)
