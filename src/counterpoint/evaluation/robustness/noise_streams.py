"""Random numbers of corruptions: a function of (seed, epoch, sample, stream) and of nothing else.

Whole numbers and tables only, no logarithm or cosine of an array: torch computes those by other
instructions at the end of an array than in its body, so that a last bit would depend on the batch.
"""

from enum import IntEnum
from functools import cache

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import Draw
from counterpoint.framework.philox import LOW, philox

SALT = 0x5EED_C0DE  # in the key, so that no number is one of a view's; the value is our choice
HALF = 1 << 16


class NoiseStream(IntEnum):
    """Who draws. All severities of a corruption draw the same numbers, so they compare well."""

    GAUSSIAN_NOISE = 0
    SHOT_NOISE = 1
    IMPULSE_NOISE = 2
    SPECKLE_NOISE = 3
    MOTION_BLUR = 4
    SNOW_FLAKES = 5
    SNOW_ANGLE = 6
    FOG = 7
    ELASTIC_AFFINE = 8
    ELASTIC_FIELD = 9


def random_words(draw: Draw, stream: NoiseStream, count: int) -> Int64[Tensor, "image {count}"]:
    """Return `count` whole numbers below 2^32 for every sample.

    >>> both = random_words(Draw(1, 0, torch.tensor([7, 8])), NoiseStream.FOG, 5)
    >>> torch.equal(both[1:], random_words(Draw(1, 0, torch.tensor([8])), NoiseStream.FOG, 5))
    True
    """
    blocks = -(-count // 4)
    assert blocks < 1 << 24, "a stream has 2^24 blocks of four words"
    device = draw.index.device
    place = torch.arange(blocks, device=device) | stream << 24
    index, epoch = draw.index[:, None], torch.tensor(draw.epoch, device=device)
    counter = torch.broadcast_tensors(index & LOW, (index >> 32) & LOW, epoch, place)
    low, high, early, late = counter
    key = (draw.seed & LOW, (draw.seed >> 32) & LOW ^ SALT)
    return torch.stack(philox((low, high, early, late), key), dim=-1).flatten(1)[:, :count]


def uniform_noise(draw: Draw, stream: NoiseStream, count: int) -> Float[Tensor, "image {count}"]:
    """Return `count` numbers in [0, 1) for every sample: multiples of 2^-24."""
    return (random_words(draw, stream, count) >> 8).to(torch.float32) * 2.0**-24


def normal(draw: Draw, stream: NoiseStream, count: int) -> Float[Tensor, "image {count}"]:
    """Return `count` numbers of the normal distribution for every sample.

    Each is one of 65,536 quantiles of equal probability: the variance is 0.99998 instead of 1 and
    nothing lies beyond 4.33 deviations, far below what a level of 255 can show.
    """
    pairs = random_words(draw, stream, -(-count // 2))
    halves = torch.stack([pairs >> 16, pairs & (HALF - 1)], dim=-1).flatten(1)[:, :count]
    return quantiles().to(halves.device)[halves]


@cache
def quantiles() -> Float[Tensor, " 65536"]:
    """Return the normal quantiles in the middle of 65,536 equal parts."""
    middle = (torch.arange(HALF, dtype=torch.float64) + 0.5) / HALF
    table: Tensor = torch.special.ndtri(middle).to(torch.float32)
    return table
