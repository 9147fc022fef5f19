"""An image as a grid of patches, as CPC and YADIM see it."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.framework.records import Shape
from counterpoint.parts.views.stage import Unit


@dataclass(frozen=True, slots=True)
class Patches:
    """Break an image into p x p patches of q x q pixels that overlap their neighbours.

    >>> Patches(8, overlap=4).shape((3, 32, 32))
    (7, 7, 3, 8, 8)
    """

    q: int
    overlap: int = 0

    numbers = 0

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.q:
            raise PartError(
                "views",
                got=f"patches of {self.q} with an overlap of {self.overlap}",
                needs="an overlap from 0 to less than the patch",
            )

    def shape(self, image: Shape) -> Shape:
        channels, height, width = image
        step = self.q - self.overlap
        if height != width or height < self.q or (height - self.q) % step:
            raise PartError(
                "views",
                got=f"images {image} for patches of {self.q} every {step} pixels",
                needs="square images that the patches fill",
                do=f"a side of {self.q} + a multiple of {step}",
            )
        p = (height - self.q) // step + 1
        return (p, p, channels, self.q, self.q)

    def __call__(self, images: Unit) -> Float[Tensor, "batch p p channel {self.q} {self.q}"]:
        step = self.q - self.overlap
        grid = images.unfold(2, self.q, step).unfold(3, self.q, step)
        return grid.permute(0, 2, 3, 1, 4, 5).contiguous()

    def __str__(self) -> str:
        return f"patches {self.q} overlap {self.overlap}"
