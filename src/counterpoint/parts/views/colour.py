"""Stages that change pixel values."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.framework.constants import constant, fixed
from counterpoint.framework.pixels import figures
from counterpoint.framework.records import Shape
from counterpoint.parts.views.adjustments import jitter_, luma
from counterpoint.parts.views.fast import all_at_once, compiled_for
from counterpoint.parts.views.jitter import jitter_together_
from counterpoint.parts.views.stage import Numbers, Unit, change_chosen_


@dataclass(frozen=True, slots=True)
class ColourJitter:
    """Change brightness, contrast, saturation and hue, in an order drawn for each image.

    With a factor f drawn from [1 - strength, 1 + strength], the mean grey level g of the image and
    the luma l of a pixel, brightness is f x, contrast f x + (1 - f) g and saturation
    f x + (1 - f) l; hue turns the colour circle by a share of up to `hue`. All as in torchvision.

    >>> jitter = ColourJitter(0.4, 0.4, 0.4, 0.1)
    >>> print(jitter)
    jitter 0.4/0.4/0.4/0.1 p 0.8
    >>> jitter.factors(torch.full((1, jitter.numbers), 0.5))  # in the middle nothing changes
    tensor([[1., 1., 1., 0.]])
    """

    brightness: float
    contrast: float
    saturation: float
    hue: float
    p: float = 0.8
    """The share of images that are jittered at all."""

    numbers = 9  # whether, four factors, four ranks that give the order

    def shape(self, image: Shape) -> Shape:
        return three_channels(image, "colour jitter")

    def change_(self, images: Unit, numbers: Numbers) -> None:
        kernels = compiled_for(images)
        orders, factors = self.orders(numbers), self.factors(numbers)
        if all_at_once(images):
            jitter_together_(images, orders, factors)
        elif kernels is None:
            jitter_(images, orders, factors)
        else:
            kernels.jitter(images.flatten(2).numpy(), orders.numpy(), factors.numpy())

    @property
    def _strengths(self) -> tuple[float, ...]:
        return (self.brightness, self.contrast, self.saturation, self.hue)

    def orders(self, numbers: Numbers) -> Int64[Tensor, "batch 4"]:
        """Draw the order of the four operators; -1 for those that do nothing."""
        order = numbers[:, 5:9].argsort(dim=1, stable=True)
        still = numbers[:, :1] >= self.p
        if 0 in self._strengths:
            idle = tuple(strength == 0 for strength in self._strengths)
            still = still | constant(idle, torch.bool, order.device)[order]
        return order.masked_fill(still, -1)

    def factors(self, numbers: Numbers) -> Float[Tensor, "batch 4"]:
        """Draw the four factors from torchvision's ranges."""
        low, length = fixed(_ranges, (self._strengths,), numbers.device).unbind()
        return low + numbers[:, 1:5] * length

    def words(self, numbers: Numbers, _image: Shape) -> list[str]:
        rows = zip(self.orders(numbers).tolist(), self.factors(numbers).tolist(), strict=True)
        return [
            ", ".join(f"{'bcsh'[kind]} {factors[kind]:.2f}" for kind in order if kind >= 0)
            for order, factors in rows
        ]

    def __str__(self) -> str:
        return f"jitter {'/'.join(f'{x:g}' for x in self._strengths)} p {self.p:g}"


@dataclass(frozen=True, slots=True)
class Greyscale:
    """Replace the colours by their luma.

    >>> red = torch.tensor([1.0, 0.0, 0.0]).view(1, 3, 1, 1)
    >>> Greyscale(p=1.0).change_(red, torch.zeros(1, 1))
    >>> red.flatten()
    tensor([0.2989, 0.2989, 0.2989])
    """

    p: float = 0.2

    numbers = 1

    def shape(self, image: Shape) -> Shape:
        return three_channels(image, "greyscale")

    def change_(self, images: Unit, numbers: Numbers) -> None:
        change_chosen_(images, numbers[:, 0] < self.p, luma)

    def words(self, numbers: Numbers, _image: Shape) -> list[str]:
        return ["grey" if number < self.p else "" for number in numbers[:, 0].tolist()]

    def __str__(self) -> str:
        return f"grey {self.p:g}"


@dataclass(frozen=True, slots=True)
class Solarise:
    """Turn values from a threshold on into their negatives, x into 1 - x.

    >>> grey = torch.tensor([0.2, 0.5, 0.9]).view(1, 3, 1, 1)
    >>> Solarise(p=1.0).change_(grey, torch.zeros(1, 1))
    >>> grey.flatten()
    tensor([0.2000, 0.5000, 0.1000])
    """

    threshold: float = 0.5  # BYOL, table 6
    p: float = 0.2

    numbers = 1

    def shape(self, image: Shape) -> Shape:
        return image

    def change_(self, images: Unit, numbers: Numbers) -> None:
        change_chosen_(images, numbers[:, 0] < self.p, self._negative)

    def _negative(self, images: Unit) -> Unit:
        return torch.where(images >= self.threshold, 1 - images, images)

    def words(self, numbers: Numbers, _image: Shape) -> list[str]:
        return ["solarise" if number < self.p else "" for number in numbers[:, 0].tolist()]

    def __str__(self) -> str:
        return f"solarise {self.threshold:g} p {self.p:g}"


@dataclass(frozen=True, slots=True)
class Normalise:
    """Subtract the mean of each channel and divide by its standard deviation.

    >>> grey = torch.full((1, 3, 1, 1), 0.75)
    >>> Normalise(mean=(0.5,) * 3, std=(0.25,) * 3).change_(grey, torch.zeros(1, 0))
    >>> grey.flatten()
    tensor([1., 1., 1.])
    """

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

    def change_(self, images: Unit, _numbers: Numbers) -> None:
        values, shape = (*self.mean, *self.std), (2, -1, 1, 1)
        mean, std = constant(values, images.dtype, images.device, shape=shape).unbind()
        images.sub_(mean).div_(std)

    def __str__(self) -> str:
        usual = self in (CIFAR10, STL10, IMAGENET, LAB)
        return "normalise" if usual else f"normalise {figures(self.mean)}/{figures(self.std)}"


CIFAR10 = Normalise((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616))  # of the training images
STL10 = Normalise((0.43, 0.42, 0.39), (0.27, 0.26, 0.27))  # amdim-public, datasets.py
IMAGENET = Normalise((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))  # torchvision's weights
# HobbitLong/CMC, train_CMC.py: the middle and half the range of each channel.
LAB = Normalise((50.0, 6.025, -6.6895), (50.0, 92.208, 101.1675))


def _ranges(strengths: tuple[float, ...]) -> Float[Tensor, "2 4"]:
    """Return where the range of each factor begins, and how long it is."""
    around = [(max(0.0, 1 - strength), 1 + strength) for strength in strengths[:3]]
    low, high = torch.tensor([*around, (-strengths[3], strengths[3])]).unbind(dim=1)
    return torch.stack([low, high - low])


def three_channels(image: Shape, what: str) -> Shape:
    """Refuse images that are not red, green and blue."""
    if image[0] != 3:
        raise PartError(
            "views",
            got=f"{image[0]} channels for {what}",
            needs="red, green and blue",
            do="leave the stage out for other images",
        )
    return image
