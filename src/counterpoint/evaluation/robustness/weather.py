"""Weather and light: fog, snow, brightness and contrast.

Definitions and settings: Hendrycks and Dietterich 2019, `make_cifar_c.py` and
`make_imagenet_c.py`. Their frost is left out: it is made of photos that we do not have.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.evaluation.robustness.blurs import streaked
from counterpoint.evaluation.robustness.noise_streams import NoiseStream, normal, uniform_noise
from counterpoint.evaluation.robustness.plasma import plasma
from counterpoint.evaluation.robustness.severity import Bytes, Severities, levels
from counterpoint.evaluation.robustness.zooming import zoomed
from counterpoint.framework import Draw

# Thickness, and how much smoother each finer octave of the fog is.
FOG = Severities(
    "fog",
    ((0.2, 3.0), (0.5, 3.0), (0.75, 2.5), (1.0, 2.0), (1.5, 1.75)),
    ((1.5, 2.0), (2.0, 2.0), (2.5, 1.7), (2.5, 1.5), (3.0, 1.4)),
)
# Mean, deviation and zoom of the flakes, what is too dark to be one, radius and deviation of the
# motion, and what is kept of the image's own colours.
SNOW = Severities(
    "snow",
    (
        (0.1, 0.2, 1.0, 0.6, 8, 3.0, 0.95),
        (0.1, 0.2, 1.0, 0.5, 10, 4.0, 0.9),
        (0.15, 0.3, 1.75, 0.55, 10, 4.0, 0.9),
        (0.25, 0.3, 2.25, 0.6, 12, 6.0, 0.85),
        (0.3, 0.3, 1.25, 0.65, 14, 12.0, 0.8),
    ),
    (
        (0.1, 0.3, 3.0, 0.5, 10, 4.0, 0.8),
        (0.2, 0.3, 2.0, 0.5, 12, 4.0, 0.7),
        (0.55, 0.3, 4.0, 0.9, 12, 8.0, 0.7),
        (0.55, 0.3, 4.5, 0.85, 12, 8.0, 0.65),
        (0.55, 0.3, 2.5, 0.85, 12, 12.0, 0.55),
    ),
)
# Added to the value of HSV.
BRIGHTNESS = Severities("brightness", (0.05, 0.1, 0.15, 0.2, 0.3), (0.1, 0.2, 0.3, 0.4, 0.5))
# What is left of the contrast.
CONTRAST = Severities("contrast", (0.75, 0.5, 0.4, 0.3, 0.15), (0.4, 0.3, 0.2, 0.1, 0.05))

GREY = (0.299, 0.587, 0.114)  # ITU-R BT.601, as OpenCV's conversion to grey has it
WHITEN, LIFT = 1.5, 0.5  # a snowy pixel is at least 1.5 grey + 0.5


def fog(images: Bytes, severity: int, draw: Draw) -> Bytes:
    r"""Add a plasma fractal p and scale back: $(x + c p) \cdot m / (m + c)$, m the largest x."""
    thickness, decay = FOG.at(images, severity)
    tall, wide = images.shape[-2:]
    side = 1 << (max(tall, wide) - 1).bit_length()  # 32 for CIFAR-10 and 256 for 224, as published
    cloud = plasma(uniform_noise(draw, NoiseStream.FOG, side**2), side, decay)[
        :, None, :tall, :wide
    ]
    most = images.amax(dim=(1, 2, 3), keepdim=True).float()
    return levels((images + cloud * (255 * thickness)) * (most / (most + 255 * thickness)))


def snow(images: Bytes, severity: int, draw: Draw) -> Bytes:
    """Whiten the image, then add flakes that fall aslant, and the same flakes turned around."""
    mean, deviation, zoom, least, radius, sigma, kept = SNOW.at(images, severity)
    tall, wide = images.shape[-2:]
    drawn = normal(draw, NoiseStream.SNOW_FLAKES, tall * wide).view(-1, 1, tall, wide)
    flakes = zoomed(drawn * deviation + mean, zoom)
    flakes = torch.where(flakes < least, 0.0, flakes).clamp(max=1)
    turn = uniform_noise(draw, NoiseStream.SNOW_ANGLE, 1)[:, 0].tolist()
    angles = [math.radians(90 * number - 135) for number in turn]
    fallen = streaked(flakes * 255, angles, radius=int(radius), sigma=sigma)
    white = torch.maximum(images.float(), grey(images) * WHITEN + 255 * LIFT)
    return levels(images * kept + white * (1 - kept) + fallen + fallen.flip(-2, -1))


def grey(images: Bytes) -> Float[Tensor, "image 1 height width"]:
    """Return the luma of every pixel, from 0 to 255."""
    red, green, blue = images.float().split(1, dim=1)
    luma: Tensor = red * GREY[0] + green * GREY[1] + blue * GREY[2]
    return luma


def brightness(images: Bytes, severity: int, _draw: Draw) -> Bytes:
    """Raise the value of HSV, at most to 1; hue and saturation stay.

    That scales a pixel's channels by one factor. Black becomes grey.
    """
    c = BRIGHTNESS.at(images, severity)
    value = images.amax(dim=1, keepdim=True).float()
    raised = (value + 255 * c).clamp(max=255)
    return levels(torch.where(value == 0, raised, images * (raised / value.clamp(min=1))))


def lower_contrast(images: Bytes, severity: int, _draw: Draw) -> Bytes:
    r"""Draw every channel towards its mean over the image: $c (x - \bar x) + \bar x$."""
    c = CONTRAST.at(images, severity)
    total = images.sum(dim=(2, 3), keepdim=True, dtype=torch.int64)  # exact in any order
    mean = total / (images.shape[2] * images.shape[3])
    return levels((images - mean) * c + mean)
