"""Noise, drawn for every value of every channel.

Definitions and settings: Hendrycks and Dietterich 2019, section 3, and their `make_cifar_c.py`
(32 pixels) and `make_imagenet_c.py` (224 pixels). x is from 0 to 1.
"""

from functools import cache

import torch
from jaxtyping import Float64, UInt8
from torch import Tensor

from counterpoint.evaluation.robustness.noise_streams import NoiseStream, normal, random_words
from counterpoint.evaluation.robustness.severity import Bytes, Severities, levels
from counterpoint.framework import Draw

GAUSSIAN = Severities(
    "gaussian noise", (0.04, 0.06, 0.08, 0.09, 0.10), (0.08, 0.12, 0.18, 0.26, 0.38)
)
SHOT = Severities("shot noise", (500, 250, 100, 75, 50), (60, 25, 12, 5, 3))
IMPULSE = Severities(
    "impulse noise", (0.01, 0.02, 0.03, 0.05, 0.07), (0.03, 0.06, 0.09, 0.17, 0.27)
)
SPECKLE = Severities("speckle noise", (0.06, 0.1, 0.12, 0.16, 0.2), (0.15, 0.2, 0.35, 0.45, 0.6))


def gaussian_noise(images: Bytes, severity: int, draw: Draw) -> Bytes:
    r"""Add the same noise everywhere: $x + c z$, z normal.

    >>> grey = torch.full((1, 3, 32, 32), 128, dtype=torch.uint8)
    >>> noisy = gaussian_noise(grey, 5, Draw(0, 0, torch.tensor([0])))
    >>> bool((noisy.float().std() / 255 - 0.10).abs() < 0.005)
    True
    """
    c = GAUSSIAN.at(images, severity)
    z = normal(draw, NoiseStream.GAUSSIAN_NOISE, images[0].numel()).view(images.shape)
    return levels(images + z * (255 * c))


def speckle_noise(images: Bytes, severity: int, draw: Draw) -> Bytes:
    r"""Add noise that grows with the light: $x + c x z$, z normal."""
    c = SPECKLE.at(images, severity)
    z = normal(draw, NoiseStream.SPECKLE_NOISE, images[0].numel()).view(images.shape)
    return levels(images * (z * c + 1))


def impulse_noise(images: Bytes, severity: int, draw: Draw) -> Bytes:
    """Turn a share c of all values into 0 or 255, half of them each."""
    c = IMPULSE.at(images, severity)
    number = random_words(draw, NoiseStream.IMPULSE_NOISE, images[0].numel()).view(images.shape)
    struck = torch.where(number < round(c * 2**31), 0, 255).byte()
    return torch.where(number < round(c * 2**32), struck, images)


def shot_noise(images: Bytes, severity: int, draw: Draw) -> Bytes:
    r"""Count photons: $k / c$, k of Poisson's distribution with mean $c x$.

    k is the first number whose distribution function exceeds a uniform number.
    """
    c = SHOT.at(images, severity)
    number = random_words(draw, NoiseStream.SHOT_NOISE, images[0].numel()).view(images.shape)
    table = poisson(c).to(images.device)
    # All 256 distributions in one sorted line: that of level n lies between n and n + 1.
    place = (images + number.double() * 2.0**-32).contiguous()
    found = torch.searchsorted(table, place, right=True)
    return photon_levels(c).to(images.device)[found - images.long() * (c + 1)]


@cache
def poisson(c: int) -> Float64[Tensor, " _"]:
    """Return the distribution functions of 0 to c photons, level after level, each plus its level.

    More photons than c are white like c, so that the last entry is 1.
    """
    level, count = (torch.arange(n, dtype=torch.float64) for n in (256, c + 1))
    mean = (level * c / 255)[:, None]
    share = torch.exp(torch.xlogy(count, mean) - mean - torch.lgamma(count + 1))
    below = share.cumsum(dim=1).clamp(max=1)
    below[:, -1] = 1
    return (below + level[:, None]).flatten()


@cache
def photon_levels(c: int) -> UInt8[Tensor, " {c}+1"]:
    """Return the level of 0 to c photons."""
    return levels(torch.arange(c + 1, dtype=torch.float64) * 255 / c)
