"""Stages that change pixel values, equal to torchvision's functional operators."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.framework.records import Shape
from counterpoint.parts.views.geometry import Batch, Numbers

Factor = Float[Tensor, "batch 1 1 1"]


@dataclass(frozen=True, slots=True)
class ColourJitter:
    """Brightness, contrast, saturation and hue, in an order drawn for each image."""

    brightness: float
    contrast: float
    saturation: float
    hue: float
    p: float = 0.8
    """The share of images that are jittered at all."""

    numbers = 9  # whether, four factors, four ranks that give the order

    def shape(self, image: Shape) -> Shape:
        return _three_channels(image, "colour jitter")

    def __call__(self, images: Batch, numbers: Numbers) -> Batch:
        chosen = (numbers[:, 0] < self.p).nonzero()[:, 0]
        factors = self.factors(numbers[chosen])
        order = numbers[chosen, 5:9].argsort(dim=1, stable=True)
        jittered = images[chosen]
        for turn in range(4):
            for kind, operator in enumerate(OPERATORS):
                mine = (order[:, turn] == kind).nonzero()[:, 0]
                jittered[mine] = operator(jittered[mine], factors[mine, kind, None, None, None])
        return images.index_copy(0, chosen, jittered)

    def factors(self, numbers: Numbers) -> Float[Tensor, "batch 4"]:
        """Draw the four factors from torchvision's ranges."""
        around = [
            (max(0.0, 1 - x), 1 + x) for x in (self.brightness, self.contrast, self.saturation)
        ]
        ranges = torch.tensor([*around, (-self.hue, self.hue)], device=numbers.device)
        return torch.lerp(ranges[:, 0], ranges[:, 1], numbers[:, 1:5])

    def __str__(self) -> str:
        strengths = (self.brightness, self.contrast, self.saturation, self.hue)
        return f"jitter {'/'.join(f'{x:g}' for x in strengths)} p {self.p:g}"


@dataclass(frozen=True, slots=True)
class Greyscale:
    """Replace the colours by their luma."""

    p: float = 0.2

    numbers = 1

    def shape(self, image: Shape) -> Shape:
        return _three_channels(image, "greyscale")

    def __call__(self, images: Batch, numbers: Numbers) -> Batch:
        grey = (numbers[:, 0] < self.p)[:, None, None, None]
        return torch.where(grey, luma(images), images)

    def __str__(self) -> str:
        return f"grey {self.p:g}"


@dataclass(frozen=True, slots=True)
class Normalise:
    """Subtract the mean of each channel and divide by its deviation."""

    mean: tuple[float, ...]
    std: tuple[float, ...]

    numbers = 0

    def shape(self, image: Shape) -> Shape:
        if not len(self.mean) == len(self.std) == image[0]:
            raise PartError(
                "views",
                got=f"{image[0]} channels, {len(self.mean)} means, {len(self.std)} deviations",
                needs="a mean and a deviation for every channel",
            )
        return image

    def __call__(self, images: Batch, numbers: Numbers) -> Batch:  # noqa: ARG002 (no chance)
        mean, std = (
            torch.tensor(v, device=images.device)[:, None, None] for v in (self.mean, self.std)
        )
        return (images - mean) / std

    def __str__(self) -> str:
        return "normalise"


def luma(images: Batch) -> Float[Tensor, "batch 1 height width"]:
    """Give 0.2989 R + 0.587 G + 0.114 B, torchvision's numbers."""
    red, green, blue = images[:, 0:1], images[:, 1:2], images[:, 2:3]
    return 0.2989 * red + 0.587 * green + 0.114 * blue


def adjust_brightness(images: Batch, factor: Factor) -> Batch:
    """Blend with black."""
    return (images * factor).clamp(0, 1)


def adjust_contrast(images: Batch, factor: Factor) -> Batch:
    """Blend with the mean luma of the image."""
    mean = luma(images).mean(dim=(2, 3), keepdim=True)
    return torch.lerp(mean, images, factor).clamp(0, 1)


def adjust_saturation(images: Batch, factor: Factor) -> Batch:
    """Blend with the luma of each pixel."""
    return torch.lerp(luma(images), images, factor).clamp(0, 1)


def adjust_hue(images: Batch, factor: Factor) -> Batch:
    """Turn the hue by `factor` of the circle, through HSV."""
    red, green, blue = images.unbind(dim=1)
    top, bottom = images.amax(dim=1), images.amin(dim=1)
    spread = top - bottom
    safe = torch.where(spread == 0, 1.0, spread)
    hue = torch.where(
        top == red,
        (green - blue) / safe,
        torch.where(top == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    hue = torch.where(spread == 0, 0.0, hue) + 6 * factor[:, 0]
    # A channel is the top, less the spread times how far the hue is from the channel's own.
    away = torch.stack([(hue + k).remainder(6) for k in (5, 3, 1)], dim=1)
    near = torch.minimum(away, 4 - away).clamp(0, 1)
    return top[:, None] - spread[:, None] * near


OPERATORS: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (
    adjust_brightness,
    adjust_contrast,
    adjust_saturation,
    adjust_hue,
)


def _three_channels(image: Shape, what: str) -> Shape:
    if image[0] != 3:
        raise PartError(
            "views",
            got=f"{image[0]} channels for {what}",
            needs="red, green and blue",
            do="leave the stage out for other images",
        )
    return image
