"""Which part of an image is seen: the one record that all geometry comes down to."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

Interpolation = Literal["bilinear", "bicubic"]
Lengths = Int64[Tensor, " batch"]


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A box of every image, whether it is mirrored, and the size that it is resized to.

    A box may reach over the border: the image is reflected there.
    """

    top: Lengths
    left: Lengths
    height: Lengths
    width: Lengths
    mirrored: Bool[Tensor, " batch"]
    size: tuple[int, int] | None = None
    """Height and width after resizing; None leaves the pixels of the box as they are."""
    interpolation: Interpolation = "bilinear"

    def box(self, top: Lengths, left: Lengths, height: Lengths, width: Lengths) -> "Window":
        """Cut a box out of what is seen; a box of a mirrored image lies on its other side."""
        left = torch.where(self.mirrored, self.width - left - width, left)
        return replace(self, top=self.top + top, left=self.left + left, height=height, width=width)

    def rows(self, rows: slice | Lengths) -> "Window":
        """Take the windows of some images."""
        return Window(
            self.top[rows],
            self.left[rows],
            self.height[rows],
            self.width[rows],
            self.mirrored[rows],
            self.size,
            self.interpolation,
        )

    def boxes(self) -> list["Box"]:
        """Give the boxes as plain numbers, image by image."""
        columns = (self.top, self.left, self.height, self.width, self.mirrored)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [Box(top, left, height, width, m) for top, left, height, width, m in rows]


@dataclass(frozen=True, slots=True)
class Box:
    """The window on one image, in plain numbers."""

    top: int
    left: int
    height: int
    width: int
    mirrored: bool


def whole(heights: Lengths, widths: Lengths) -> Window:
    """See the whole of every image.

    >>> whole(torch.tensor([32]), torch.tensor([48])).width
    tensor([48])
    """
    zero = torch.zeros_like(heights)
    return Window(zero, zero, heights, widths, torch.zeros_like(heights, dtype=torch.bool))


def whole_of(images: Tensor) -> Window:
    """See the whole of images that have one size."""
    count, (height, width) = len(images), images.shape[-2:]
    heights = torch.full((count,), height, dtype=torch.int64, device=images.device)
    return whole(heights, torch.full_like(heights, width))
