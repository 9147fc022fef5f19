"""A hash of 64 bits that images share when they look the same."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Int64, UInt8
from torch import Tensor

ROWS, COLUMNS = 8, 8  # bits; a thumbnail one column wider gives as many differences
LUMA = (0.299, 0.587, 0.114)  # ITU-R BT.601: red, green and blue as grey


def difference_hash(
    images: UInt8[Tensor, "image 3 height width"],
) -> Int64[Tensor, " image"]:
    """Shrink each image to 8 rows of 9 grey pixels; a bit says which of two neighbours is lighter.

    Sizes, formats and brightness change few bits; another picture changes about half of them
    (Krawetz 2013, "Kind of like that": dHash).

    >>> ramp = torch.arange(90, dtype=torch.uint8).view(1, 1, 1, 90).expand(1, 3, 80, 90)
    >>> difference_hash(ramp).tolist(), difference_hash(255 - ramp).tolist()
    ([0], [-1])
    """
    small = F.adaptive_avg_pool2d(images.float(), (ROWS, COLUMNS + 1))
    grey = (small * torch.tensor(LUMA).view(3, 1, 1)).sum(dim=1)
    falls = (grey[..., :-1] > grey[..., 1:]).flatten(start_dim=1).long()
    return (falls << torch.arange(ROWS * COLUMNS)).sum(dim=1)  # bits do not overlap: as good as or


def bits_apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Count the bits in which hashes differ.

    >>> bits_apart(np.array([0, 7]), np.array([0, -1])).tolist()
    [0, 61]
    """
    differing = np.ascontiguousarray(one ^ other).view(np.uint8).reshape(-1, 8)
    counted: np.ndarray = _BITS[differing].sum(axis=1)
    return counted


_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
