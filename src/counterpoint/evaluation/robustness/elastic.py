"""The elastic transform: the image is stretched as a whole, then every pixel is moved a little.

Definition and settings: Hendrycks and Dietterich 2019, `make_cifar_c.py` and
`make_imagenet_c.py`, after Simard et al. 2003.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.evaluation.robustness.line_maps import apply_lines, bordered, gaussian_taps
from counterpoint.evaluation.robustness.noise_streams import (
    HALF,
    NoiseStream,
    random_words,
    uniform_noise,
)
from counterpoint.evaluation.robustness.severity import SMALL, Bytes, Severities, levels
from counterpoint.framework import Draw

Place = Float[Tensor, "image height width"]

# How far pixels move, how smoothly, and how far the corners of the image are moved: shares of the
# shorter side.
ELASTIC = Severities(
    "elastic transform",
    ((0.0, 0.0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05), (0.1, 0.03, 0.03)),
    ((2, 0.7, 0.1), (2, 0.08, 0.2), (0.05, 0.01, 0.02), (0.07, 0.01, 0.02), (0.12, 0.01, 0.02)),
)
SLIP = 244 / 224  # the published shares for large images are of 244 pixels, at a side of 224
FLAT = 0.05  # our choice: an affine map is not inverted beyond this determinant


def elastic_transform(images: Bytes, severity: int, draw: Draw) -> Bytes:
    """Apply a random affine map, then a smooth random field; both times bilinear."""
    tall, wide = images.shape[-2:]
    side = min(tall, wide) * (1 if min(tall, wide) <= SMALL else SLIP)
    far, smooth, corner = (share * side for share in ELASTIC.at(images, severity))
    moves = (uniform_noise(draw, NoiseStream.ELASTIC_AFFINE, 6) * 2 - 1) * corner
    stretched = sample_bilinear(images.float(), *affine(moves, tall, wide), edge=0)
    down, right = field(draw, tall, wide, smooth) * far
    row = torch.arange(tall, device=images.device)[:, None] + down
    column = torch.arange(wide, device=images.device) + right
    return levels(sample_bilinear(stretched, row, column, edge=1))


def affine(moves: Float[Tensor, "image 6"], tall: int, wide: int) -> tuple[Place, Place]:
    """Return the rows and columns to look at, when three points of a square are moved.

    The square lies around the middle; the moves are (column, row) of its lower right, upper right
    and upper left corner.
    """
    half = min(tall, wide) // 3
    corner = (wide // 2 - half, tall // 2 - half)
    lower, upper, left = (moves[:, n : n + 2].unbind(dim=1) for n in (0, 2, 4))
    # The images of a step to the right and of a step down, by column and row.
    across = [(upper[n] - left[n]) / (2 * half) + (1 - n) for n in (0, 1)]
    down = [(lower[n] - upper[n]) / (2 * half) + n for n in (0, 1)]
    a, b, c, d = (entry[:, None, None] for entry in (*across, *down))
    size = a * d - b * c
    size = torch.copysign(size.abs().clamp(min=FLAT), size)
    start = [(corner[n] + left[n])[:, None, None] for n in (0, 1)]
    x = torch.arange(wide, device=moves.device) - start[0]
    y = torch.arange(tall, device=moves.device)[:, None] - start[1]
    return (a * y - b * x) / size + corner[1], (d * x - c * y) / size + corner[0]


def field(
    draw: Draw, tall: int, wide: int, smooth: float
) -> Float[Tensor, "2 image {tall} {wide}"]:
    """Return two maps of uniform numbers of (-1, 1), blurred by a Gaussian: down and right."""
    count = tall * wide
    half = random_words(draw, NoiseStream.ELASTIC_FIELD, 2 * count) >> 16
    numbers = (2 * half + 1 - HALF).view(-1, 2, tall, wide)
    taps = gaussian_taps(smooth, int(3 * smooth + 0.5))
    rows, columns = (bordered(taps, of, "reflect") for of in (tall, wide))
    return apply_lines(rows, numbers, columns).div(HALF).float().transpose(0, 1)


def sample_bilinear(
    images: Float[Tensor, "image channel height width"], row: Place, column: Place, *, edge: int
) -> Float[Tensor, "image channel height width"]:
    """Interpolate between four pixels; beyond the border the image is reflected.

    With `edge` 1 the last pixel comes twice, as in scipy's "reflect", with 0 once.
    """
    tall, wide = images.shape[-2:]
    top, left = row.floor(), column.floor()
    down, right = (row - top)[:, None], (column - left)[:, None]
    rows = [reflected(top.long() + n, tall, edge) * wide for n in (0, 1)]
    columns = [reflected(left.long() + n, wide, edge) for n in (0, 1)]
    flat = images.flatten(2)

    def taken(place: Int64[Tensor, "image height width"]) -> Tensor:
        index = place.flatten(1)[:, None].expand_as(flat)
        return flat.gather(2, index).view(images.shape)

    upper, lower = (
        taken(r + columns[0]) * (1 - right) + taken(r + columns[1]) * right for r in rows
    )
    return upper * (1 - down) + lower * down


def reflected(place: Int64[Tensor, "*shape"], of: int, edge: int) -> Int64[Tensor, "*shape"]:
    """Fold any place onto a line, reflected as often as needed.

    >>> reflected(torch.tensor([-2, -1, 4, 5]), 4, 1)
    tensor([1, 0, 3, 2])
    >>> reflected(torch.tensor([-2, -1, 4, 5]), 4, 0)
    tensor([2, 1, 2, 1])
    """
    period = 2 * (of - 1 + edge)
    place = place.remainder(period)
    return torch.minimum(place, period - edge - place)
