"""The closed table of corruptions, and one way to apply any of them."""

from collections.abc import Callable

import torch

from counterpoint.evaluation.robustness import blurs as blur
from counterpoint.evaluation.robustness import digital, noise, weather
from counterpoint.evaluation.robustness.elastic import elastic_transform
from counterpoint.evaluation.robustness.severity import SEVERITIES, Bytes
from counterpoint.framework import Draw

Corruption = Callable[[Bytes, int, Draw], Bytes]
"""Images, a severity from 1 to 5 and where chance comes from; images of the same shape."""

CORRUPTIONS: dict[str, Corruption] = {
    "gaussian_noise": noise.gaussian_noise,
    "shot_noise": noise.shot_noise,
    "impulse_noise": noise.impulse_noise,
    "speckle_noise": noise.speckle_noise,
    "gaussian_blur": blur.gaussian_blur,
    "defocus_blur": blur.defocus_blur,
    "motion_blur": blur.motion_blur,
    "zoom_blur": blur.zoom_blur,
    "snow": weather.snow,
    "fog": weather.fog,
    "brightness": weather.brightness,
    "contrast": weather.lower_contrast,
    "elastic_transform": elastic_transform,
    "pixelate": digital.pixelate,
    "jpeg_compression": digital.jpeg_compression,
    "saturate": digital.saturate,
}
"""Every corruption by its name (Hendrycks and Dietterich 2019)."""

CHUNK = 1 << 17  # values that are worked on together; the fastest of 2^15 to 2^20 for most


def corrupt(name: str, images: Bytes, severity: int, draw: Draw) -> Bytes:
    """Corrupt a batch, some images at a time, so that memory is bounded for any batch.

    >>> images = torch.zeros(2, 3, 32, 32, dtype=torch.uint8)
    >>> corrupt("brightness", images, 1, Draw(0, 0, torch.arange(2))).unique()
    tensor([13], dtype=torch.uint8)
    """
    if name not in CORRUPTIONS:
        raise ValueError(f"corruption: got {name!r}, needs one of {', '.join(CORRUPTIONS)}")
    if len(draw.index) != len(images):
        raise ValueError(
            f"{name}: got {len(images)} images and {len(draw.index)} numbers of samples, "
            "needs one number for each image"
        )
    many = max(1, CHUNK // max(1, images[0:1].numel()))
    parts = zip(images.split(many), draw.index.split(many), strict=True)
    done = [
        CORRUPTIONS[name](part, severity, Draw(draw.seed, draw.epoch, index))
        for part, index in parts
    ]
    return torch.cat(done)


__all__ = ["CORRUPTIONS", "SEVERITIES", "Corruption", "corrupt"]
