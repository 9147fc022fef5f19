"""Blurs: of a lens, of a moving camera, of a zoom, and Gauss'.

Definitions and settings: Hendrycks and Dietterich 2019, `make_cifar_c.py` and
`make_imagenet_c.py`, but for what the functions say.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.evaluation.robustness.line_maps import (
    apply_lines,
    bordered,
    gaussian_taps,
    inside,
)
from counterpoint.evaluation.robustness.noise_streams import NoiseStream, uniform_noise
from counterpoint.evaluation.robustness.severity import Bytes, Severities, levels
from counterpoint.evaluation.robustness.zooming import zoomed
from counterpoint.framework import Draw

# Deviation in pixels.
GAUSSIAN = Severities("gaussian blur", (0.4, 0.6, 0.7, 0.8, 1.0), (1.0, 2.0, 3.0, 4.0, 6.0))
# Radius of the disk and deviation of the Gaussian that softens its edge, in pixels.
DEFOCUS = Severities(
    "defocus blur",
    ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1)),
    ((3.0, 0.1), (4.0, 0.5), (6.0, 0.5), (8.0, 0.5), (10.0, 0.5)),
)
# Radius and deviation in pixels.
MOTION = Severities(
    "motion blur",
    ((6, 1.0), (6, 1.5), (6, 2.0), (8, 2.0), (9, 2.5)),
    ((10, 3.0), (15, 5.0), (15, 8.0), (15, 12.0), (20, 15.0)),
)
# How many zooms, and by how much each is larger than the one before. The published numbers are
# ranges such as arange(1, 1.06, 0.01), of which some do and some do not hold their end.
ZOOM = Severities(
    "zoom blur",
    ((7, 0.01), (12, 0.01), (16, 0.01), (21, 0.01), (26, 0.01)),
    ((12, 0.01), (16, 0.01), (11, 0.02), (13, 0.02), (11, 0.03)),
)


def gaussian_blur(images: Bytes, severity: int, _draw: Draw) -> Bytes:
    """Blur by a Gaussian, cut off at four deviations; borders repeat the last pixel."""
    sigma = GAUSSIAN.at(images, severity)
    taps = gaussian_taps(sigma, int(4 * sigma + 0.5))
    rows, columns = (bordered(taps, of, "nearest") for of in images.shape[-2:])
    return levels(apply_lines(rows, images, columns))


def defocus_blur(images: Bytes, severity: int, _draw: Draw) -> Bytes:
    """Take the mean over a disk, then soften by a small Gaussian; borders are reflected."""
    radius, sigma = DEFOCUS.at(images, severity)
    softness = 1 if radius <= 8 else 2
    taps, reach = gaussian_taps(sigma, softness), math.floor(radius)
    padded = F.pad(images.float(), [reach + softness] * 4, mode="reflect")
    sums, pixels = disk_sums(padded.long(), radius)
    rows, columns = (inside(taps, of) for of in sums.shape[-2:])
    return levels(apply_lines(rows, sums, columns) / pixels)


def disk_sums(
    images: Int64[Tensor, "image channel height width"], radius: float
) -> tuple[Int64[Tensor, "image channel _ _"], int]:
    """Sum all pixels within a radius, wherever the disk lies inside, and say how many they are.

    A disk is a run of pixels in every row, and a run is the difference of two running sums.
    """
    reach = math.floor(radius)
    tall, wide = (side - 2 * reach for side in images.shape[-2:])
    running = F.pad(images.cumsum(dim=-1), [1, 0])
    total, pixels = torch.zeros_like(images[..., :tall, :wide]), 0
    for down in range(-reach, reach + 1):
        half = math.isqrt(math.floor(radius**2) - down**2)
        row = running[..., reach + down : reach + down + tall, :]
        first, last = reach - half, reach + half + 1
        total += row[..., last : last + wide] - row[..., first : first + wide]
        pixels += last - first
    return total, pixels


def motion_blur(images: Bytes, severity: int, draw: Draw) -> Bytes:
    """Smear along a line drawn between -45 and 45 degrees, towards one side."""
    radius, sigma = MOTION.at(images, severity)
    turn = uniform_noise(draw, NoiseStream.MOTION_BLUR, 1)[:, 0].tolist()
    angles = [math.radians(90 * number - 45) for number in turn]
    return levels(streaked(images.float(), angles, radius=radius, sigma=sigma))


def streaked(
    images: Float[Tensor, "image channel height width"],
    angles: list[float],
    *,
    radius: int,
    sigma: float,
) -> Float[Tensor, "image channel height width"]:
    r"""Take the mean along a ray of 2 radius + 1 pixels, step i with weight $e^{-i^2/2\sigma^2}$.

    So ImageMagick defines its motion blur, which the published code calls: half a Gaussian, whole
    pixels, and borders that repeat the last one. Written by us, not compared with the program.
    """
    weight = [math.exp(-0.5 * (step / sigma) ** 2) for step in range(2 * radius + 1)]
    share = [w / sum(weight) for w in weight]
    (tall, wide), room = images.shape[-2:], 2 * radius
    result = torch.zeros_like(images)
    for image, angle, out in zip(images, angles, result, strict=True):
        padded = F.pad(image, [room] * 4, mode="replicate")
        for step, w in enumerate(share):
            top = room + math.ceil(step * math.sin(angle) - 0.5)
            left = room + math.ceil(step * math.cos(angle) - 0.5)
            out += padded[:, top : top + tall, left : left + wide] * w
    return result


def zoom_blur(images: Bytes, severity: int, _draw: Draw) -> Bytes:
    """Take the mean of the image, once more than the zooms, and of its zooms from 1 on."""
    count, step = ZOOM.at(images, severity)
    image = images.float()
    total = image.clone()
    for n in range(count):
        # As numpy's arange rounds it: the size after a zoom by 1.25 hangs on the last bit.
        total += zoomed(image, 1 + n * ((1 + step) - 1))
    return levels(total / (count + 1))
