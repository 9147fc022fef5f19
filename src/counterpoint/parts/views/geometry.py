"""Stages that move pixels."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.framework.records import Shape

Batch = Float[Tensor, "batch channel height width"]
Resized = Float[Tensor, "batch channel _ _"]
Numbers = Float[Tensor, "batch number"]


@dataclass(frozen=True, slots=True)
class RandomResizedCrop:
    """Cut a random box and resize it, antialiased bilinear, as torchvision does."""

    size: int
    scale: tuple[float, float] = (0.08, 1.0)  # torchvision's default; SimCLR, run.py
    ratio: tuple[float, float] = (3 / 4, 4 / 3)

    numbers = 22  # ten tries of (area, ratio), then the place

    def shape(self, image: Shape) -> Shape:
        return (image[0], self.size, self.size)

    def __call__(self, images: Batch, numbers: Numbers) -> Resized:
        height, width = images.shape[-2:]
        top, left, box_height, box_width = self.boxes(numbers, height, width)
        rows = resize_weights(top, box_height, into=self.size, of=height)
        columns = resize_weights(left, box_width, into=self.size, of=width)
        return rows[:, None] @ images @ columns[:, None].mT

    def boxes(self, numbers: Numbers, height: int, width: int) -> tuple[Tensor, ...]:
        """Draw (top, left, height, width): the first of ten tries that fits, else the centre."""
        area = height * width * _between(numbers[:, 0:20:2], *self.scale)
        ratio = _between(numbers[:, 1:20:2], math.log(self.ratio[0]), math.log(self.ratio[1])).exp()
        tall, wide = (area / ratio).sqrt().round(), (area * ratio).sqrt().round()
        fits = (tall > 0) & (tall <= height) & (wide > 0) & (wide <= width)
        first = fits.to(torch.uint8).argmax(dim=1, keepdim=True)
        tall, wide = tall.gather(1, first)[:, 0], wide.gather(1, first)[:, 0]
        top = (numbers[:, 20] * (height - tall + 1)).floor()
        left = (numbers[:, 21] * (width - wide + 1)).floor()
        centre = _central_box(self.ratio, height, width)
        none = ~fits.any(dim=1)
        drawn = (top, left, tall, wide)
        return tuple(
            torch.where(none, float(c), d).long() for c, d in zip(centre, drawn, strict=True)
        )

    def __str__(self) -> str:
        return f"random crop {self.scale[0]:g}-{self.scale[1]:g} to {self.size}"


@dataclass(frozen=True, slots=True)
class HorizontalFlip:
    """Mirror left and right."""

    p: float = 0.5

    numbers = 1

    def shape(self, image: Shape) -> Shape:
        return image

    def __call__(self, images: Batch, numbers: Numbers) -> Batch:
        return torch.where((numbers[:, 0] < self.p)[:, None, None, None], images.flip(-1), images)

    def __str__(self) -> str:
        return f"flip {self.p:g}"


@dataclass(frozen=True, slots=True)
class Resize:
    """Resize the whole image, antialiased bilinear; for evaluation."""

    size: int

    numbers = 0

    def shape(self, image: Shape) -> Shape:
        if image[1] != image[2]:
            raise PartError("views", got=f"images {image}", needs="square images to resize")
        return (image[0], self.size, self.size)

    def __call__(self, images: Batch, numbers: Numbers) -> Resized:  # noqa: ARG002 (no chance)
        if images.shape[-1] == self.size:
            return images
        whole = torch.zeros(1, dtype=torch.int64, device=images.device)
        of = images.shape[-1]
        weights = resize_weights(whole, whole + of, into=self.size, of=of)
        return weights[:, None] @ images @ weights[:, None].mT

    def __str__(self) -> str:
        return f"resize to {self.size}"


@dataclass(frozen=True, slots=True)
class GaussianBlur:
    """Blur by a Gaussian of random width, with reflected borders, as torchvision does."""

    kernel: int
    """Pixels under the Gaussian: odd, a tenth of the image (Chen et al. 2020, appendix A)."""
    sigma: tuple[float, float] = (0.1, 2.0)
    p: float = 0.5

    numbers = 2

    def shape(self, image: Shape) -> Shape:
        if self.kernel % 2 == 0 or self.kernel // 2 >= min(image[1:]):
            raise PartError(
                "views",
                got=f"a blur of {self.kernel} pixels on images {image}",
                needs="an odd number, less than twice the image",
            )
        return image

    def __call__(self, images: Batch, numbers: Numbers) -> Batch:
        chosen = (numbers[:, 0] < self.p).nonzero()[:, 0]
        sigma = _between(numbers[chosen, 1], *self.sigma)
        height, width = images.shape[-2:]
        rows = blur_weights(sigma, kernel=self.kernel, of=height)
        columns = blur_weights(sigma, kernel=self.kernel, of=width)
        blurred = rows[:, None] @ images[chosen] @ columns[:, None].mT
        return images.index_copy(0, chosen, blurred)

    def __str__(self) -> str:
        return f"blur {self.sigma[0]:g}-{self.sigma[1]:g} p {self.p:g}"


def blur_weights(
    sigma: Float[Tensor, " batch"], *, kernel: int, of: int
) -> Float[Tensor, "batch {of} {of}"]:
    """Give the matrix that convolves a line with a Gaussian and reflects it at its ends."""
    reach = kernel // 2
    tap = torch.arange(-reach, reach + 1, device=sigma.device)
    weight = torch.exp(-0.5 * (tap / sigma[:, None]) ** 2)
    weight = weight / weight.sum(dim=1, keepdim=True)
    place = torch.arange(of, device=sigma.device)[:, None] + tap
    place = (of - 1) - ((of - 1) - place.abs()).abs()
    matrix = sigma.new_zeros(len(sigma), of, of)
    shape = (len(sigma), of, kernel)
    return matrix.scatter_add(2, place.expand(shape), weight[:, None].expand(shape))


def resize_weights(
    start: Int64[Tensor, " batch"], length: Int64[Tensor, " batch"], *, into: int, of: int
) -> Float[Tensor, "batch {into} {of}"]:
    """Give the matrix that cuts [start, start + length) out of a line and resizes it.

    A triangle as wide as the shrinkage, at least one pixel: torch's antialiased bilinear.

    >>> line = torch.tensor([0.0, 10.0, 20.0, 30.0])
    >>> resize_weights(torch.tensor([1]), torch.tensor([2]), into=2, of=4)[0] @ line
    tensor([10., 20.])
    """
    shrink = (length / into)[:, None, None]
    pixel = torch.arange(of, device=start.device)[None, None] - start[:, None, None]
    centre = (torch.arange(into, device=start.device)[None, :, None] + 0.5) * shrink
    weights = (1 - (pixel + 0.5 - centre).abs() / shrink.clamp(min=1)).clamp(min=0)
    weights = weights * ((pixel >= 0) & (pixel < length[:, None, None]))
    return weights / weights.sum(dim=-1, keepdim=True)


def _between(numbers: Tensor, low: float, high: float) -> Tensor:
    return low + numbers * (high - low)


def _central_box(ratio: tuple[float, float], height: int, width: int) -> tuple[int, int, int, int]:
    """Give torchvision's fall-back: the largest central box within the ratios."""
    tall, wide = height, width
    if width / height < ratio[0]:
        tall = round(width / ratio[0])
    elif width / height > ratio[1]:
        wide = round(height * ratio[1])
    return (height - tall) // 2, (width - wide) // 2, tall, wide
