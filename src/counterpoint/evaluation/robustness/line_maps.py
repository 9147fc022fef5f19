"""A linear map of every line, bit for bit the same in any batch.

A matrix product adds in an order that depends on its size. Here pixels and weights are whole
numbers and all sums stay below 2^53, where float64 is exact in any order.
"""

from typing import Literal

import torch
from jaxtyping import Float64, Int64, Shaped
from torch import Tensor

Border = Literal["nearest", "reflect"]
"""What lies beyond the ends a b c d: d d d, or d c b (scipy's names)."""

ONE = 1 << 16  # the sum of a line's weights
# Two passes multiply by 2^32, so that the lines themselves may hold 20 bits and a sign.


def gaussian_taps(sigma: float, reach: int) -> Int64[Tensor, " 2*{reach}+1"]:
    """Return a Gaussian's weights in units of 2^-16; what rounding leaves goes to the middle.

    >>> gaussian_taps(0.5, 1)
    tensor([ 6980, 51576,  6980])
    """
    place = torch.arange(-reach, reach + 1, dtype=torch.float64)
    weight = torch.exp(-0.5 * (place / sigma) ** 2) if sigma > 0 else (place == 0).double()
    whole = (weight / weight.sum() * ONE).round().long()
    whole[reach] += ONE - whole.sum()
    return whole


def bordered(taps: Int64[Tensor, " tap"], of: int, border: Border) -> Float64[Tensor, "{of} {of}"]:
    """Return the matrix that convolves a line of `of` pixels and extends it beyond its ends."""
    around = torch.arange(len(taps)) - len(taps) // 2
    place = torch.arange(of) + around[:, None]
    if border == "nearest":
        place = place.clamp(0, of - 1)
    else:
        place = place.remainder(2 * of)
        place = torch.minimum(place, 2 * of - 1 - place)
    matrix = torch.zeros(of, of, dtype=torch.float64)
    return matrix.scatter_add_(0, place, taps.double()[:, None].expand(-1, of))


def inside(taps: Int64[Tensor, " tap"], of: int) -> Float64[Tensor, "{of} _"]:
    """Return the matrix that convolves a line only where all weights lie on it."""
    into = of - len(taps) + 1
    place = torch.arange(into) + torch.arange(len(taps))[:, None]
    matrix = torch.zeros(of, into, dtype=torch.float64)
    return matrix.scatter_add_(0, place, taps.double()[:, None].expand(-1, into))


def apply_lines(
    rows: Float64[Tensor, "height _"],
    images: Shaped[Tensor, "*batch height width"],
    columns: Float64[Tensor, "width _"],
) -> Float64[Tensor, "*batch _ _"]:
    """Apply one matrix to the columns of whole numbers and one to their rows."""
    device = images.device
    across = images.double() @ columns.to(device)
    return rows.to(device).mT @ across / ONE**2
