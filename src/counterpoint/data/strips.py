"""Decoded images become red, green and blue bytes, a strip at a time.

Pillow holds 4 bytes a pixel of colour; every conversion of a whole image would hold that much
again.
"""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

STRIP = 1 << 21  # pixels that are converted together: 6 MB
PAPER = (255, 255, 255)  # what shows through transparent pixels: white, as in a browser

STORED: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    1: lambda seen: seen,
    2: lambda seen: seen[:, ::-1],
    3: lambda seen: seen[::-1, ::-1],
    4: lambda seen: seen[::-1],
    5: lambda seen: seen.swapaxes(0, 1),
    6: lambda seen: np.rot90(seen, 1),
    7: lambda seen: seen[::-1, ::-1].swapaxes(0, 1),
    8: lambda seen: np.rot90(seen, -1),
}
"""By EXIF's orientation: the picture as people see it, looked at as it is stored."""


def upright(
    image: Image.Image, orientation: int, *, shrink: int = 1
) -> UInt8[Tensor, "3 height width"]:
    """Return an image's pixels, upright; `shrink` by `shrink` pixels become one, their mean."""
    width, height = (-(-side // shrink) for side in image.size)
    shape = (width, height, 3) if orientation >= 5 else (height, width, 3)
    seen = np.empty(shape, np.uint8)
    stored = STORED[orientation](seen)  # a view: what is written here is turned there
    rows = max(1, STRIP // image.width // shrink) * shrink
    for top in range(0, image.height, rows):
        part = image
        if rows < image.height:
            part = image.crop((0, top, image.width, min(top + rows, image.height)))
        part = rgb(part)
        part = part if shrink == 1 else part.reduce(shrink)
        first = top // shrink
        stored[first : first + part.height] = np.asarray(part)
    return torch.from_numpy(seen).permute(2, 0, 1)


def rgb(image: Image.Image) -> Image.Image:
    """Convert any mode: grey, palette, CMYK, 16 bits, and transparency on white paper."""
    if image.mode == "RGB":
        return image
    if image.mode == "F":
        raise ValueError("its pixels are floating-point numbers, needs whole ones")
    if image.mode.startswith("I"):  # Pillow would clip 16 bits where they should be scaled
        levels = np.asarray(image).astype(np.uint32) >> 8
        return Image.fromarray(levels.clip(0, 255).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        paper = Image.new("RGBA", image.size, PAPER)
        return Image.alpha_composite(paper, image.convert("RGBA")).convert("RGB")
    return image.convert("RGB")
