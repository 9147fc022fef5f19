"""Random boxes drawn in whole numbers: the boxes of float64 on devices that have no float64.

Shares of the area and ratios are whole multiples of 2^-44, and a side is rounded by comparing
whole numbers, so that no device draws another box than the CPU does.
"""

import math
from functools import cache

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework.constants import constant, fixed

BITS = 44  # of a fraction; with them sides up to 60,000 pixels are compared without an overflow
FINE = 10  # bits of a number that the second table of ratios is for, of 24
Range = tuple[float, float]
Tries = Int64[Tensor, "10 batch"]


def boxes(
    numbers: Float[Tensor, "batch 22"],
    sides: tuple[int, int],
    *,
    scale: Range,
    ratio: Range,
    otherwise: tuple[int, int, int, int],
) -> tuple[Int64[Tensor, " batch"], ...]:
    """Draw (top, left, height, width) in images of one size; `otherwise` where no try fits.

    For the share s of the area A and the ratio r, the height h is the square root of A s / r,
    rounded. A guess in float32 gives a whole number l that is h or one less; h = l + 1 exactly if

    $$ 4 A s >= (2 l + 1)^2 r $$

    (in the middle, as for float64, only if that is even). Both products may wrap around 2^64,
    their difference does not. Widths go with 1 / r.
    """
    whole = (numbers * 2.0**24).long().T
    share, ratios = _share(whole[0:20:2], scale), _ratios(whole[1:20:2], ratio)
    area = sides[0] * sides[1]
    guess = (share.float() / ratios.float() * area).sqrt()
    side = (guess + 0.25).long()
    odd = 2 * side + 1
    side = side + (share * (4 * area) - odd * odd * ratios + (side & 1) > 0)
    lengths, centre = (
        constant(x, torch.int64, numbers.device, shape=(-1, 1)) for x in (sides, otherwise)
    )
    fits = ((side > 0) & (side <= lengths[:, None])).all(dim=0)
    first = fits.to(torch.uint8).argmax(dim=0).expand(2, 1, -1)
    side = side.gather(1, first).squeeze(1)
    place = (lengths - side + 1) * whole[20:] >> 24
    return torch.where(fits.any(dim=0), torch.cat([place, side]), centre).unbind()


def _share(numbers: Tries, scale: Range) -> Tries:
    """Spread numbers of 24 bits over the range, in two steps of 12 that do not overflow."""
    low, spread = (round(x * 2**BITS) for x in (scale[0], scale[1] - scale[0]))
    first, second = (numbers >> 12) * spread, (numbers & 4095) * spread >> 12
    share: Tensor = (first + second >> 12) + low
    return share


def _ratios(numbers: Tries, ratio: Range) -> Int64[Tensor, "2 10 batch"]:
    """Spread numbers of 24 bits evenly over the logarithms of the range; give r and 1 / r.

    From two tables, as exp(a + b) = exp(a) + exp(a) (exp(b) - 1).
    """
    coarse, fine = (fixed(table, (ratio,), numbers.device) for table in (_coarse, _fine))
    coarse = coarse[:, numbers >> FINE]
    spare = _spare(ratio)
    part = (coarse >> spare) * fine[:, numbers & (2**FINE - 1)]
    return coarse + (part >> BITS - spare)


def _coarse(ratio: Range) -> Tensor:
    """Return exp(a) and exp(-a) for the upper bits of a number."""
    low, high = (math.log(r) for r in ratio)
    a = low + torch.arange(2 ** (24 - FINE)).double() * 2.0 ** (FINE - 24) * (high - low)
    return (torch.stack([a, -a]).exp() * 2.0**BITS).round().long()


def _fine(ratio: Range) -> Tensor:
    """Return exp(b) - 1 and exp(-b) - 1 for the lower bits."""
    b = torch.arange(2**FINE).double() * 2.0**-24 * math.log(ratio[1] / ratio[0])
    return (torch.stack([b, -b]).expm1() * 2.0**BITS).round().long()


@cache
def _spare(ratio: Range) -> int:
    """Return how many bits the product of two entries has too many."""
    bits = sum(int(table(ratio).abs().max()).bit_length() for table in (_coarse, _fine))
    return max(0, bits - 62)
