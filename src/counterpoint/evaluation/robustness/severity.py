"""How bad: five settings for small images and five for large ones, and what can be corrupted."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from jaxtyping import UInt8
from torch import Tensor

Setting = TypeVar("Setting")

Bytes = UInt8[Tensor, "image channel height width"]
"""Red, green and blue; `Table.at` refuses anything else."""

SEVERITIES = (1, 2, 3, 4, 5)
"""How strong a corruption is, from 1 to 5."""
# The published tables are for 32 and for 224 pixels. Where one ends and the other begins is our
# choice: by the shorter side, so that every kernel of the large table fits into the image.
SMALL, MIN_SIDE = 48, 16


@dataclass(frozen=True, slots=True)
class Severities(Generic[Setting]):
    """The settings of one corruption, from severity 1 to 5."""

    name: str
    small: tuple[Setting, Setting, Setting, Setting, Setting]
    """For a shorter side of at most 48 pixels: CIFAR-10-C."""
    large: tuple[Setting, Setting, Setting, Setting, Setting]
    """For anything larger: ImageNet-C."""

    def at(self, images: Bytes, severity: int) -> Setting:
        """Choose by severity and by the size of the images."""
        channels, height, width = images.shape[1:]
        if channels != 3:
            raise ValueError(
                f"{self.name}: got images of {channels} channels, needs red, green and blue; "
                "repeat a grey channel three times"
            )
        if min(height, width) < MIN_SIDE:
            raise ValueError(
                f"{self.name}: got images of {height} x {width}, needs {MIN_SIDE} pixels a side"
            )
        if severity not in SEVERITIES:
            raise ValueError(f"{self.name}: got severity {severity}, needs 1, 2, 3, 4 or 5")
        return (self.small if min(height, width) <= SMALL else self.large)[severity - 1]


def levels(values: Tensor) -> Tensor:
    """Round to whole levels from 0 to 255, as bytes.

    The published code cuts the fraction off, which darkens by half a level; we round.
    """
    return values.round().clamp(0, 255).byte()
