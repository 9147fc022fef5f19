"""What cameras and files do: JPEG, large pixels, and colours that are too strong or too weak.

Definitions and settings: Hendrycks and Dietterich 2019, `make_cifar_c.py` and
`make_imagenet_c.py`.
"""

import io
from functools import cache

import numpy as np
import torch
from jaxtyping import Float64
from PIL import Image
from torch import Tensor

from counterpoint.evaluation.robustness.severity import Bytes, Severities, levels
from counterpoint.framework import Draw

# Quality, from 0 to 95.
JPEG = Severities("jpeg compression", (80, 65, 58, 50, 40), (25, 18, 15, 10, 7))
# What is left of the side.
PIXELATE = Severities("pixelate", (0.95, 0.9, 0.85, 0.75, 0.65), (0.6, 0.5, 0.4, 0.3, 0.25))
# The saturation of HSV is multiplied and raised. Severities 1 and 2 fade, 3 to 5 strengthen.
SATURATE = Severities(
    "saturate",
    ((0.3, 0.0), (0.1, 0.0), (1.5, 0.0), (2.0, 0.1), (2.5, 0.2)),
    ((0.3, 0.0), (0.1, 0.0), (2.0, 0.0), (5.0, 0.1), (20.0, 0.2)),
)
FIXED = 1 << 22  # Pillow's weights for bytes are whole multiples of 2^-22


def jpeg_compression(images: Bytes, severity: int, _draw: Draw) -> Bytes:
    """Write and read every image as JPEG by Pillow, with its usual subsampled colours."""
    quality = JPEG.at(images, severity)
    pixels = images.permute(0, 2, 3, 1).cpu().numpy()
    read = np.stack([_through_jpeg(image, quality) for image in pixels])
    return torch.from_numpy(read).permute(0, 3, 1, 2).contiguous().to(images.device)


def _through_jpeg(image: np.ndarray, quality: int) -> np.ndarray:
    file = io.BytesIO()
    Image.fromarray(image).save(file, format="JPEG", quality=quality)
    with Image.open(file, formats=("JPEG",)) as picture:
        return np.asarray(picture)


def pixelate(images: Bytes, severity: int, _draw: Draw) -> Bytes:
    """Make the image smaller and large again, both by Pillow's box filter, bit for bit."""
    c = PIXELATE.at(images, severity)
    tall, wide = images.shape[-2:]
    small = _boxed(images.double(), int(tall * c), int(wide * c))
    return _boxed(small, tall, wide).byte()


def _boxed(
    images: Float64[Tensor, "image channel height width"], tall: int, wide: int
) -> Float64[Tensor, "image channel {tall} {wide}"]:
    """Resize whole levels, rounded after each direction. All products are exact in float64."""
    columns = box_weights(images.shape[-1], wide).to(images.device)
    rows = box_weights(images.shape[-2], tall).to(images.device)
    across = (images @ columns / FIXED + 0.5).floor()
    return (rows.mT @ across / FIXED + 0.5).floor()


@cache
def box_weights(of: int, into: int) -> Float64[Tensor, "{of} {into}"]:
    """Return the box filter that makes `into` pixels of `of`, in units of 2^-22.

    A pixel counts fully when its middle is under the box, and not at all otherwise.

    >>> box_weights(3, 2) / FIXED
    tensor([[0.5000, 0.0000],
            [0.5000, 0.0000],
            [0.0000, 1.0000]], dtype=torch.float64)
    """
    scale = of / into
    wide = max(scale, 1.0)
    centre = (torch.arange(into, dtype=torch.float64) + 0.5) * scale
    pixel = torch.arange(of, dtype=torch.float64)[:, None]
    # In Pillow's order of operations: where a middle lies on the edge, the last bit decides.
    distance = (pixel - centre + 0.5) * (1 / wide)
    first, last = (centre - wide / 2 + 0.5).floor(), (centre + wide / 2 + 0.5).floor()
    inside = (pixel >= first) & (pixel < last)
    under = (inside & (distance > -0.5) & (distance <= 0.5)).double()
    return (under / under.sum(dim=0) * FIXED + 0.5).floor()


def saturate(images: Bytes, severity: int, _draw: Draw) -> Bytes:
    """Change the saturation of HSV, at most to 1; hue and value stay.

    That scales a pixel's distances from its largest channel by one factor. A grey pixel has no
    hue; where saturation is raised it becomes red, as in the published code.
    """
    factor, more = SATURATE.at(images, severity)
    value = images.amax(dim=1, keepdim=True).float()
    spread = value - images.amin(dim=1, keepdim=True)
    saturation = (spread / value.clamp(min=1) * factor + more).clamp(max=1)
    drop = (value - images) * (value * saturation / spread.clamp(min=1))
    red = torch.tensor([0.0, 1.0, 1.0], device=images.device)[:, None, None]
    return levels(value - torch.where(spread == 0, red * (value * saturation), drop))
