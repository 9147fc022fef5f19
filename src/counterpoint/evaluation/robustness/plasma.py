"""Plasma: a fractal of clouds, by diamonds and squares on a torus (Fournier et al. 1982)."""

from jaxtyping import Float
from torch import Tensor

Maps = Float[Tensor, "image side side"]


def plasma(numbers: Float[Tensor, "image _"], side: int, decay: float) -> Maps:
    r"""Return maps from 0 to 1, for a side that is a power of two and side^2 numbers of [0, 1).

    From one point on, every grid is made twice as fine: a new point is the mean of its four
    neighbours plus a number of $[-a, a)$. The grid is a torus. In the published fog the amplitude
    is the square of a wobble that is divided by `decay` for each finer grid: $a_n = decay^{-2n}$.

    >>> import torch
    >>> plasma(torch.tensor([[0.75, 1.0, 0.0, 0.5]]), 2, 2.0)
    tensor([[[0.3750, 1.0000],
             [0.0000, 0.6250]]])
    """
    maps = numbers.new_zeros(len(numbers), side, side)
    step, used, amplitude = side, 0, 1.0
    while step > 1:
        count = (side // step) ** 2
        mine = (numbers[:, used : used + 3 * count] * 2 - 1) * amplitude
        _refine_(maps, step, mine.unflatten(1, (3, side // step, side // step)))
        step, used, amplitude = step // 2, used + 3 * count, amplitude / decay**2
    low, high = maps.amin(dim=(1, 2), keepdim=True), maps.amax(dim=(1, 2), keepdim=True)
    return (maps - low) / (high - low)


def _refine_(maps: Maps, step: int, wobble: Float[Tensor, "image 3 _ _"]) -> None:
    """Fill the middles of the squares, then those of their upper and of their left sides."""
    half = step // 2
    corner, middle = maps[:, ::step, ::step], maps[:, half::step, half::step]
    right, below = corner.roll(-1, dims=2), corner.roll(-1, dims=1)
    middle.copy_((corner + right + below + right.roll(-1, dims=1)) / 4 + wobble[:, 0])
    upper = (middle + middle.roll(1, dims=1) + corner + right) / 4 + wobble[:, 1]
    maps[:, ::step, half::step] = upper
    maps[:, half::step, ::step] = (middle + middle.roll(1, dims=2) + corner + below) / 4 + wobble[
        :, 2
    ]
