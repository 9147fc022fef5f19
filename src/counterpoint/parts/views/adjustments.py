"""The colour operators of torchvision, for a whole batch, in place and in few passes.

`compiled` has the same for the CPU, faster.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework.constants import constant

Colours = Float[Tensor, "batch 3 height width"]
Factor = Float[Tensor, "batch 1 1 1"]

LUMA = (0.2989, 0.587, 0.114)  # torchvision's numbers


def luma(images: Colours) -> Float[Tensor, "batch 1 height width"]:
    """Return 0.2989 R + 0.587 G + 0.114 B."""
    red, green, blue = images.split(1, dim=1)
    grey: Tensor = red * LUMA[0]
    return grey.add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2])


def brightness_(images: Colours, factor: Factor) -> None:
    """Blend with black."""
    images.mul_(factor).clamp_(0, 1)


def contrast_(images: Colours, factor: Factor) -> None:
    """Blend with the mean luma of the image."""
    mean = luma(images.mean(dim=(2, 3), keepdim=True))
    images.mul_(factor).add_(mean.mul_(1 - factor)).clamp_(0, 1)


def saturation_(images: Colours, factor: Factor) -> None:
    """Blend with the luma of each pixel."""
    grey = luma(images).mul_(1 - factor)
    images.mul_(factor).add_(grey).clamp_(0, 1)


def hue_(images: Colours, factor: Factor) -> None:
    r"""Turn the hue by `factor` of the circle and keep value and saturation, as HSV does.

    With the hue h in sixths of the circle, measured from red to both sides, top and bottom the
    largest and smallest channel, and spread their difference,

    $$ |h| = 1 + (G + B - R - bottom) / spread, \quad sign(h) = sign(G - B), $$

    which needs no case for the sector. A channel is bottom + spread * clamp(2 - d, 0, 1), where
    d is how far h, turned, is from the channel's own hue: 0, 2 and -2.
    """
    turned(images, turns(factor), out=images)


def turns(factor: Factor) -> Float[Tensor, "batch 3 1 1"]:
    """Return how far each channel's own hue is turned, in sixths: in [-3, 3)."""
    own = constant((0.0, -2.0, 2.0), factor.dtype, factor.device, shape=(3, 1, 1))
    return (6 * factor + own + 3).remainder(6).sub_(3)


def turned(
    images: Colours, turn: Float[Tensor, "batch 3 1 1"], *, out: Colours | None = None
) -> Colours:
    """Return images whose hue is turned: with the turns h is within one circle, [-6, 6]."""
    red, green, blue = images.split(1, dim=1)
    bottom = torch.minimum(red, green)
    torch.minimum(bottom, blue, out=bottom)
    spread = torch.maximum(red, green)
    torch.maximum(spread, blue, out=spread).sub_(bottom)
    hue = (green + blue).sub_(red).sub_(bottom)
    hue.div_(spread.clamp(min=1e-12)).add_(1)  # any hue is right where all channels are equal
    torch.copysign(hue, green - blue, out=hue)
    # The circle folds: a distance beyond 3 counts from the other side. 2 - (3 - ||h| - 3|).
    near = (hue + turn).abs_().sub_(3).abs_().clamp_(1, 2)
    return torch.addcmul(bottom.sub_(spread), spread, near, out=out)


OPERATORS = (brightness_, contrast_, saturation_, hue_)


def jitter_(
    images: Colours, orders: Int64[Tensor, "batch 4"], factors: Float[Tensor, "batch 4"]
) -> None:
    """Take each image through its operators, 0 to 3, in its own order; -1 stands for none.

    Images with the same order are taken together, so that each group is a straight line.
    """
    routes, group = orders.unique(dim=0, return_inverse=True)
    for number, route in enumerate(routes.tolist()):
        rows = (group == number).nonzero()[:, 0]
        some, mine = images.index_select(0, rows), factors[rows][:, :, None, None, None]
        for kind in route:
            if kind >= 0:
                OPERATORS[kind](some, mine[:, kind])
        images.index_copy_(0, rows, some)
