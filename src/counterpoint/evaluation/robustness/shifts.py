"""Shifts of scale and crop: another window on the same image, reflected beyond its borders.

No published benchmark: the scales and offsets are our choice. Nothing is random.
"""

from dataclasses import dataclass, replace

import torch

from counterpoint.evaluation.robustness.severity import MIN_SIDE, Bytes
from counterpoint.parts.views.resampling import resample
from counterpoint.parts.views.window import whole_of


@dataclass(frozen=True, slots=True)
class Shift:
    """How large the object is, and how far the window lies from the middle.

    >>> SHIFTS["crop up 0.25"]
    Shift(scale=1.0, down=-0.25, right=0.0)
    """

    scale: float = 1.0
    """Below 1 the object is smaller, on a reflected border; above 1 it is zoomed in."""
    down: float = 0.0
    """A share of the height; the window moves down, so that the object moves up."""
    right: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a window that would need an image of an image."""
        reach = (1 / self.scale - 1) / 2 + max(abs(self.down), abs(self.right))
        if self.scale <= 0 or reach > 0.5:
            raise ValueError(
                f"shift: got {self}, needs a window that reaches at most half a side "
                "over the border; take a scale of 0.5 or more"
            )


SCALES = (0.5, 0.65, 0.8, 1.25, 1.5)
OFFSETS = (0.125, 0.25)  # of the side: 4 and 8 pixels of 32

SHIFTS = {
    **{f"scale {scale:g}": Shift(scale=scale) for scale in SCALES},
    **{f"crop up {part:g}": Shift(down=-part) for part in OFFSETS},
    **{f"crop down {part:g}": Shift(down=part) for part in OFFSETS},
    **{f"crop left {part:g}": Shift(right=-part) for part in OFFSETS},
    **{f"crop right {part:g}": Shift(right=part) for part in OFFSETS},
}
"""Every shift by its name."""


def shifted(images: Bytes, shift: Shift) -> Bytes:
    """Return what another window shows: antialiased bilinear for a scale, whole pixels for a crop.

    >>> line = torch.arange(16, dtype=torch.uint8).expand(1, 3, 16, 16)
    >>> shifted(line, Shift(right=0.125))[0, 0, 0]
    tensor([ 2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 14, 13],
           dtype=torch.uint8)
    """
    tall, wide = images.shape[-2:]
    if min(tall, wide) < MIN_SIDE:
        raise ValueError(f"shift: got images of {tall} x {wide}, needs {MIN_SIDE} pixels a side")
    height, width = (round(side / shift.scale) for side in (tall, wide))
    top = (tall - height) // 2 + round(shift.down * tall)
    left = (wide - width) // 2 + round(shift.right * wide)
    # In two steps: one window both reflects and shrinks, but without antialiasing beyond the image.
    whole = whole_of(images)
    zero = torch.zeros_like(whole.top)
    boxes = (zero + top, zero + left, zero + height, zero + width)
    box = resample(images, whole.box(*boxes, sides=(height, width)))
    if (height, width) == (tall, wide):
        return box.contiguous()
    return resample(box, replace(whole_of(box), size=(tall, wide))).byte()
