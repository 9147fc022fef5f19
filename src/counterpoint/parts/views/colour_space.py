"""Colour spaces whose channels are views of their own, for CMC."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework.constants import constant
from counterpoint.framework.records import Shape
from counterpoint.parts.views.colour import three_channels
from counterpoint.parts.views.stage import Numbers, Unit

Colours = Float[Tensor, "batch 3 height width"]

# IEC 61966-2-1: linear sRGB to CIE XYZ under D65, and D65's white for the 2 degree observer.
RGB_TO_XYZ = (
    (0.412453, 0.357580, 0.180423),
    (0.212671, 0.715160, 0.072169),
    (0.019334, 0.119193, 0.950227),
)
WHITE = (0.95047, 1.0, 1.08883)

# ITU-R BT.601, studio range: Y from 16 to 235, Cb and Cr from 16 to 240.
RGB_TO_YCBCR = (
    (65.481, 128.553, 24.966),
    (-37.797, -74.203, 112.0),
    (112.0, -93.786, -18.214),
)
YCBCR_ZERO = (16.0, 128.0, 128.0)


@dataclass(frozen=True, slots=True)
class ColourSpace:
    """Turn red, green and blue into Lab or YCbCr: lightness first, then two of colour.

    The channels are in the units of the space, as in CMC: L from 0 to 100, Y from 16 to 235.

    >>> white = torch.ones(1, 3, 1, 1)
    >>> ColourSpace("ycbcr").change_(white, torch.zeros(1, 0))
    >>> white.flatten()
    tensor([235., 128., 128.])
    """

    name: Literal["lab", "ycbcr"]

    numbers = 0

    def shape(self, image: Shape) -> Shape:
        return three_channels(image, f"the colour space {self.name}")

    def change_(self, images: Unit, _numbers: Numbers) -> None:
        images.copy_(SPACES[self.name](images))

    def __str__(self) -> str:
        return {"lab": "Lab", "ycbcr": "YCbCr"}[self.name]


def lab(images: Colours) -> Colours:
    """Return CIE L*a*b* of sRGB images.

    >>> lab(torch.ones(1, 3, 1, 1)).flatten()[0]  # white has a lightness of 100
    tensor(100.)
    """
    bright = ((images.clamp(min=0.04045) + 0.055) / 1.055).square()
    linear = torch.where(images > 0.04045, bright * root(bright, 5), images / 12.92)  # ^ 2.4
    xyz = _mixed(linear, RGB_TO_XYZ) / _beside(WHITE, images)
    f = torch.where(xyz > 0.008856, root(xyz.clamp(min=0.008856), 3), 7.787 * xyz + 16 / 116)
    x, y, z = f.unbind(dim=1)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], dim=1)


def root(values: Float[Tensor, "*shape"], n: Literal[3, 5]) -> Float[Tensor, "*shape"]:
    """Return the third or fifth root of positive numbers, by Newton's steps.

    Only operations that IEEE 754 rounds exactly: torch's own powers differ in the last bit
    between the body and the end of an array, so that an image would depend on its batch.

    >>> root(torch.tensor([8.0, 0.001]), 3)
    tensor([2.0000, 0.1000])
    """
    bits = values.float().view(torch.int32)
    found = (bits // n + int((1 - 1 / n) * 127 * 2**23)).view(torch.float32)
    for _ in range(4):
        found = (found * (n - 1) + values / _power(found, n - 1)) / n
    return found


def _power(values: Tensor, n: int) -> Tensor:
    square = values * values
    return square if n == 2 else square * square


def ycbcr(images: Colours) -> Colours:
    """Return YCbCr of BT.601 in studio range."""
    return _mixed(images, RGB_TO_YCBCR) + _beside(YCBCR_ZERO, images)


def _beside(values: tuple[float, ...], images: Colours) -> Float[Tensor, "3 1 1"]:
    """Return a number for each channel."""
    return constant(values, images.dtype, images.device, shape=(-1, 1, 1))


SPACES = {"lab": lab, "ycbcr": ycbcr}


def _mixed(images: Colours, matrix: tuple[tuple[float, ...], ...]) -> Colours:
    """Mix the channels: one row of the matrix for each new one.

    Channel by channel, so that a sample's bits do not depend on its batch.
    """
    red, green, blue = images.unbind(dim=1)
    return torch.stack([a * red + b * green + c * blue for a, b, c in matrix], dim=1)
