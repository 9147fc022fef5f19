"""Colour jitter on a device: no groups, as the host does not know which image has which order.

Every image takes the same seven steps: three blends, the hue, three blends. An operator is done
in the first three if it comes before the hue in the image's own order, in the last three if it
comes after, and left out of the others. So the hue, which costs most, is turned only once.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from counterpoint.framework.constants import constant
from counterpoint.parts.views.adjustments import LUMA, Colours, turned, turns

PLACES = (0, 1, 2, 1, 2, 3)  # of the six blends in an image's order
SIDES = (1, 1, 1, -1, -1, -1)  # before the hue, after it
MIDDLE = (0, 0, 0, 2, 1)  # the hue; without it any place where nothing is done, which is -1
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

Kinds = Int64[Tensor, "batch 6"]
Blend = tuple[Tensor, Tensor, Tensor, Tensor]
"""A, B and the bounds of a step."""


def jitter_together_(
    images: Colours, orders: Int64[Tensor, "batch 4"], factors: Float[Tensor, "batch 4"]
) -> None:
    """Take each image through its operators, 0 to 3, in its own order; -1 stands for none."""
    middle = constant(MIDDLE, torch.uint8, orders.device)[orders].argmax(dim=1, keepdim=True)
    place, side = (constant(x, torch.int64, orders.device) for x in (PLACES, SIDES))
    kinds = torch.cat([orders[:, :3], orders[:, 1:]], dim=1)
    idle = ((middle - place) * side <= 0) | (kinds < 0)
    steps = _blends(kinds, idle, factors)
    seen = _blended(images.flatten(2), steps[:3]).view_as(images)
    hue = (orders == 3).any(dim=1).view(-1, 1, 1, 1)
    seen = torch.where(hue, turned(seen, turns(factors[:, 3].view(-1, 1, 1, 1))), seen)
    images.copy_(_blended(seen.flatten(2), steps[3:]).view_as(images))


def _blends(
    kinds: Kinds, idle: Bool[Tensor, "batch 6"], factors: Float[Tensor, "batch 4"]
) -> list[Blend]:
    r"""Return the matrices of the six blends.

    With the factor f, the luma l(x) of a pixel x and the mean m of the image, brightness is
    f x, contrast f x + (1 - f) l(m) and saturation f x + (1 - f) l(x):

    $$ x' = A x + B m, $$

    clamped to 0 and 1. What is idle has f = 1, and bounds that no value reaches.
    """
    device, shape = kinds.device, (-1, 6, 1, 1)
    factor = factors.gather(1, kinds.clamp(min=0)).masked_fill(idle, 1.0)
    rest = 1 - factor
    luma, unit = constant(LUMA * 3 + UNIT, torch.float32, device, shape=(2, 3, 3)).unbind()
    pixel = (rest * (kinds == 2)).view(shape) * luma
    a = torch.addcmul(pixel, factor.view(shape), unit)
    b = (rest * (kinds == 1)).view(shape) * luma
    low = -idle.float().view(shape)
    return list(zip(*(x.unbind(dim=1) for x in (a, b, low, 1 - low)), strict=True))


def _blended(
    pixels: Float[Tensor, "batch 3 pixel"], steps: Iterable[Blend]
) -> Float[Tensor, "batch 3 pixel"]:
    """Take the pixels through some blends."""
    for a, b, low, high in steps:
        means = torch.bmm(b, pixels.mean(dim=2, keepdim=True))
        pixels = torch.baddbmm(means, a, pixels).clamp_(low, high)
    return pixels
