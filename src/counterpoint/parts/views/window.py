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
    sides: tuple[int, int] | None = None
    """Height and width of every box, where they are known without reading them from a device."""

    def box(
        self,
        top: Lengths,
        left: Lengths,
        height: Lengths,
        width: Lengths,
        *,
        sides: tuple[int, int] | None = None,
    ) -> "Window":
        """Cut a box out of what is seen; a box of a mirrored image lies on its other side."""
        left = torch.where(self.mirrored, self.width - left - width, left)
        top, left = self.top + top, self.left + left
        return replace(self, top=top, left=left, height=height, width=width, sides=sides)

    def one_size(self) -> tuple[int, int] | None:
        """Return the height and width of the boxes, or None where they differ."""
        if self.sides is not None:
            return self.sides
        sizes = torch.stack([self.height, self.width], dim=1).unique(dim=0).tolist()
        return (sizes[0][0], sizes[0][1]) if len(sizes) == 1 else None

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
            self.sides,
        )

    def boxes(self) -> list["Box"]:
        """Return the boxes as plain numbers, image by image."""
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


def whole_image(heights: Lengths, widths: Lengths) -> Window:
    """See the whole of every image.

    >>> whole_image(torch.tensor([32]), torch.tensor([48])).width
    tensor([48])
    """
    zero = torch.zeros_like(heights)
    return Window(zero, zero, heights, widths, torch.zeros_like(heights, dtype=torch.bool))


def whole_of(images: Tensor, *, views: int = 1) -> Window:
    """See the whole of images that have one size, once for every view."""
    height, width = images.shape[-2:]
    return whole_sized((height, width), len(images) * views, images.device)


def whole_sized(sides: tuple[int, int], count: int, device: torch.device) -> Window:
    """See the whole of `count` images of one height and width.

    >>> whole_sized((32, 48), 2, torch.device("cpu")).width
    tensor([48, 48])
    """
    height = torch.full((count,), sides[0], dtype=torch.int64, device=device)
    width = height if sides[0] == sides[1] else torch.full_like(height, sides[1])
    return replace(whole_image(height, width), sides=sides)
