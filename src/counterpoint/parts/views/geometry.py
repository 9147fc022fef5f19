"""Stages that move pixels. Each changes the window; the window is applied once, at the end."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.framework.records import Shape
from counterpoint.parts.views.boxes import boxes
from counterpoint.parts.views.fast import all_at_once
from counterpoint.parts.views.stage import Numbers, between
from counterpoint.parts.views.window import Interpolation, Lengths, Window


@dataclass(frozen=True, slots=True)
class RandomResizedCrop:
    """Cut a random box and resize it, antialiased, as torchvision does.

    The box has a share of the area drawn from `scale` and a ratio of the sides drawn from `ratio`.

    >>> crop = RandomResizedCrop(32, scale=(0.25, 1.0))
    >>> print(crop)
    random crop 0.25-1 to 32
    >>> crop.shape((3, 480, 640))
    (3, 32, 32)
    """

    size: int
    scale: tuple[float, float] = (0.08, 1.0)  # torchvision's default; SimCLR, run.py
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    interpolation: Interpolation = "bilinear"

    numbers = 22  # ten tries of (area, ratio), then the place

    def shape(self, image: Shape) -> Shape:
        return (image[0], self.size, self.size)

    def look(self, window: Window, numbers: Numbers) -> Window | None:
        if window.size is not None:
            return None
        if window.sides is not None and all_at_once(numbers):
            box = self.whole_boxes(numbers, window.sides)
        else:
            box = self.boxes(numbers, window.height, window.width)
        resized = replace(window, size=(self.size, self.size), interpolation=self.interpolation)
        return resized.box(*box)

    def boxes(self, numbers: Numbers, height: Lengths, width: Lengths) -> tuple[Tensor, ...]:
        """Draw (top, left, height, width): the first of ten tries that fits, else the centre.

        In float64: a rounding never hangs on the last bit of a float.
        """
        numbers, tall, wide = numbers.double(), height.double()[:, None], width.double()[:, None]
        area = tall * wide * between(numbers[:, 0:20:2], *self.scale)
        ratio = between(numbers[:, 1:20:2], *(math.log(r) for r in self.ratio)).exp()
        heights, widths = (area / ratio).sqrt().round(), (area * ratio).sqrt().round()
        fits = (heights > 0) & (heights <= tall) & (widths > 0) & (widths <= wide)
        first = fits.to(torch.uint8).argmax(dim=1, keepdim=True)
        heights, widths = heights.gather(1, first), widths.gather(1, first)
        top = (numbers[:, 20:21] * (tall - heights + 1)).floor()
        left = (numbers[:, 21:22] * (wide - widths + 1)).floor()
        drawn = torch.cat([top, left, heights, widths], dim=1).long()
        none = ~fits.any(dim=1, keepdim=True)
        return torch.where(none, self._centres(height, width), drawn).unbind(dim=1)

    def whole_boxes(self, numbers: Numbers, sides: tuple[int, int]) -> tuple[Tensor, ...]:
        """Draw the same for images of one size without float64."""
        one = (torch.tensor([side]) for side in sides)
        top, left, height, width = self._centres(*one)[0].tolist()
        otherwise = (top, left, height, width)
        return boxes(numbers, sides, scale=self.scale, ratio=self.ratio, otherwise=otherwise)

    def _centres(self, height: Lengths, width: Lengths) -> Tensor:
        """Return torchvision's fall-back: the largest central box within the ratios."""
        tall = torch.minimum(height, (width / self.ratio[0]).round().long())
        wide = torch.minimum(width, (height * self.ratio[1]).round().long())
        return torch.stack([(height - tall) // 2, (width - wide) // 2, tall, wide], dim=1)

    def words(self, numbers: Numbers, image: Shape) -> list[str]:
        size = torch.tensor([image[1:]] * len(numbers), dtype=torch.int64)
        boxes = torch.stack(self.boxes(numbers, *size.unbind(dim=1)), dim=1).tolist()
        return [f"crop {w}x{h} at {left},{top}" for top, left, h, w in boxes]

    def __str__(self) -> str:
        return f"random crop {self.scale[0]:g}-{self.scale[1]:g} to {self.size}"


@dataclass(frozen=True, slots=True)
class Translation:
    """Shift by whole pixels and reflect at the border: AMDIM's image jitter on small images.

    >>> Translation(most=4).shape((3, 32, 32))
    (3, 32, 32)
    >>> down, right = Translation(most=4, p=1.0).shifts(torch.tensor([[0.0, 0.0, 0.99]]))
    >>> down.item(), right.item()
    (-4, 4)
    """

    most: int
    """Pixels, in each direction (amdim-public, datasets.py: 4)."""
    p: float = 0.8

    numbers = 3

    def shape(self, image: Shape) -> Shape:
        if self.most >= min(image[1:]):
            raise PartError(
                "views",
                got=f"a translation by {self.most} of images {image}",
                needs="images larger than that",
            )
        return image

    def look(self, window: Window, numbers: Numbers) -> Window | None:
        if window.size is not None:
            return None
        down, right = self.shifts(numbers)
        return window.box(-down, -right, window.height, window.width, sides=window.sides)

    def shifts(self, numbers: Numbers) -> tuple[Lengths, Lengths]:
        """Draw how far down and how far to the right."""
        steps = (numbers[:, 1:] * (2 * self.most + 1)).floor().long() - self.most
        down, right = (steps * (numbers[:, :1] < self.p)).unbind(dim=1)
        return down, right

    def words(self, numbers: Numbers, _image: Shape) -> list[str]:
        pairs = zip(*(shift.tolist() for shift in self.shifts(numbers)), strict=True)
        return [f"shift {right:+d},{down:+d}" if right or down else "" for down, right in pairs]

    def __str__(self) -> str:
        return f"translate {self.most} p {self.p:g}"


@dataclass(frozen=True, slots=True)
class HorizontalFlip:
    """Mirror left and right.

    >>> from counterpoint.parts.views.window import whole_image
    >>> window = whole_image(torch.tensor([8, 8]), torch.tensor([8, 8]))
    >>> HorizontalFlip(p=0.5).look(window, torch.tensor([[0.2], [0.7]])).mirrored
    tensor([ True, False])
    """

    p: float = 0.5

    numbers = 1

    def shape(self, image: Shape) -> Shape:
        return image

    def look(self, window: Window, numbers: Numbers) -> Window | None:
        return replace(window, mirrored=window.mirrored ^ (numbers[:, 0] < self.p))

    def words(self, numbers: Numbers, _image: Shape) -> list[str]:
        return ["flip" if number < self.p else "" for number in numbers[:, 0].tolist()]

    def __str__(self) -> str:
        return f"flip {self.p:g}"


@dataclass(frozen=True, slots=True)
class Resize:
    """Resize the short side, antialiased, and keep the proportions; for evaluation.

    >>> Resize(256).shape((3, 480, 640))
    (3, 256, 341)
    """

    short: int
    interpolation: Interpolation = "bilinear"

    numbers = 0
    needs_one_size = True  # the proportions that it keeps are those of an image

    def shape(self, image: Shape) -> Shape:
        return (image[0], *self._size(image[1], image[2]))

    def look(self, window: Window, _numbers: Numbers) -> Window | None:
        if window.size is not None:
            return None
        sides = window.one_size()
        if sides is None:
            return None
        size = self._size(*sides)
        kept = None if size == sides else size
        return replace(window, size=kept, interpolation=self.interpolation)

    def _size(self, height: int, width: int) -> tuple[int, int]:
        """Return torchvision's size: the long side is rounded down."""
        long = int(self.short * max(height, width) / min(height, width))
        return (self.short, long) if height <= width else (long, self.short)

    def __str__(self) -> str:
        return f"resize to {self.short}"


@dataclass(frozen=True, slots=True)
class CentreCrop:
    """Cut the central square; for evaluation.

    >>> CentreCrop(224).shape((3, 256, 341))
    (3, 224, 224)
    """

    size: int

    numbers = 0

    def shape(self, image: Shape) -> Shape:
        if min(image[1:]) < self.size:
            raise PartError(
                "views",
                got=f"a central crop of {self.size} from images {image}",
                needs="images at least that large",
                do="resize them first",
            )
        return (image[0], self.size, self.size)

    def look(self, window: Window, _numbers: Numbers) -> Window | None:
        if window.size is not None:
            return None
        top, left = (self._start(length) for length in (window.height, window.width))
        side = torch.full_like(window.height, self.size)
        return window.box(top, left, side, side, sides=(self.size, self.size))

    def _start(self, length: Lengths) -> Lengths:
        """Round half the rest as torchvision does, to the even number."""
        return ((length - self.size) / 2).round().long()

    def __str__(self) -> str:
        return f"centre {self.size}"
