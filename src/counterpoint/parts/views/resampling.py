"""Windows applied to images: crop, resize, antialiasing, reflection and mirror in one pass.

Two ways, equal to within a rounding: small images, and all on a device, are multiplied by two
matrices each, a whole batch at once; large ones on the CPU go through torch's own operator for
bytes, one by one (CUDA has none). Bytes in give whole levels out, rounded as torchvision rounds
them; floats stay exact.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor

from counterpoint.parts.views.fast import all_at_once
from counterpoint.parts.views.window import Box, Interpolation, Window

Pixels = Shaped[Tensor, "batch channel height width"]
Seen = Shaped[Tensor, "batch channel _ _"]

SMALL = 64  # pixels a side; matrices are four times as fast at 32 and slower at 96: decision 0009


def resample(images: Pixels, window: Window) -> Seen:
    """Return what the window shows of every image.

    Whole levels may come back as floats: division by 255 and conversion to bytes take both.
    """
    if window.size is None:
        return _moved(images, window)
    small = max(*images.shape[-2:], *window.size) <= SMALL
    return (_by_matrices if small or all_at_once(images) else _one_by_one)(images, window)


def apply_matrices(
    rows: Float[Tensor, "batch height _"],
    images: Pixels,
    columns: Float[Tensor, "batch width _"],
) -> Seen:
    """Multiply every channel by the matrix of the columns, then by that of the rows.

    Channels lie side by side in a row (height, channel, width), so that each product is
    one large one and not one per channel. What comes of bytes stays within 0 and 255 after
    each product, as torchvision has it, and is rounded at the end.
    """
    count, channels, height, width = images.shape
    beside = images.permute(0, 2, 1, 3).to(rows.dtype, memory_format=torch.contiguous_format)
    seen = torch.bmm(beside.reshape(count, height * channels, width), columns)
    if whole := not images.dtype.is_floating_point:
        seen.clamp_(0, 255)  # a cubic shoots over
    seen = torch.bmm(rows.mT, seen.view(count, height, -1))
    seen = seen.round_().clamp_(0, 255) if whole else seen
    return seen.view(count, rows.shape[2], channels, columns.shape[2]).permute(0, 2, 1, 3)


def line_weights(
    start: Int64[Tensor, " batch"],
    length: Int64[Tensor, " batch"],
    mirrored: Bool[Tensor, " batch"],
    *,
    into: int,
    of: int,
    interpolation: Interpolation = "bilinear",
) -> Float[Tensor, "batch {of} {into}"]:
    """Return the matrix that cuts [start, start + length) out of a line of `of` and resizes it.

    Each column holds the filter around one pixel's centre, as wide as the shrinkage and at
    least as wide as a pixel: torch's antialiased interpolation.

    >>> line = torch.tensor([0.0, 10.0, 20.0, 30.0])
    >>> one = torch.tensor([1]), torch.tensor([2])
    >>> line @ line_weights(*one, torch.tensor([False]), into=2, of=4)[0]
    tensor([10., 20.])
    >>> line @ line_weights(*one, torch.tensor([True]), into=2, of=4)[0]
    tensor([20., 10.])
    """
    start, length, mirror = (x.to(torch.float32).view(-1, 1, 1) for x in (start, length, mirrored))
    pixel = torch.arange(into, device=start.device, dtype=torch.float32)
    pixel = pixel + mirror * (into - 1 - 2 * pixel)
    shrink = length / into
    if interpolation == "bilinear" and of <= into:
        place, weight = _two_taps((pixel + 0.5) * shrink, length)
    else:
        place, weight = _taps((pixel + 0.5) * shrink, length, shrink, of / into, interpolation)
    index = reflect(place.add_(start), of).clamp_(0, of - 1).long()
    return weight.new_zeros(len(weight), of, into).scatter_add_(1, index, weight)


def _taps(
    centre: Tensor, length: Tensor, shrink: Tensor, most: float, interpolation: Interpolation
) -> tuple[Tensor, Tensor]:
    """Return the places and weights under a filter as wide as the shrinkage."""
    reach, kernel = FILTERS[interpolation]
    wide = shrink.clamp(min=1)
    # As many taps as the largest box needs, so that sums never depend on the batch.
    taps = torch.arange(int(2 * reach * max(most, 1)) + 2, device=centre.device)[:, None]
    place = (centre - reach * wide + 0.5).floor_().clamp_(min=0) + taps
    weight = kernel((place + 0.5 - centre).div_(wide)).mul_(place < length)
    return place, weight / weight.sum(dim=1, keepdim=True)


def _two_taps(centre: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same where nothing can shrink: two neighbours, kept inside the box."""
    centre = centre - 0.5
    left = centre.floor()
    part = centre.sub_(left)
    place = torch.cat([left, left + 1], dim=1).clamp_(min=0)
    return torch.minimum(place, length - 1), torch.cat([1 - part, part], dim=1)


def reflect(place: Shaped[Tensor, "*shape"], of: int) -> Shaped[Tensor, "*shape"]:
    """Mirror places beyond a line's ends at its last pixels, which are not repeated."""
    return (of - 1) - ((of - 1) - place.abs()).abs()


def _triangle(x: Tensor) -> Tensor:
    return x.abs_().neg_().add_(1).clamp_(min=0)


def _cubic(x: Tensor) -> Tensor:
    """Keys' cubic with a = -1/2, as Pillow and torch have it when they antialias."""
    x = x.abs()
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return torch.where(x < 1, near, torch.where(x < 2, far, 0.0))


FILTERS = {"bilinear": (1, _triangle), "bicubic": (2, _cubic)}


def _moved(images: Pixels, window: Window) -> Seen:
    """Take pixels from where they are; the boxes of all images have one size."""
    sides = window.one_size()
    assert sides is not None
    place = torch.arange(sides[1], device=images.device)
    place = torch.where(window.mirrored[:, None], place.flip(0), place)
    columns = reflect(window.left[:, None] + place, images.shape[-1])
    place = torch.arange(sides[0], device=images.device)
    rows = reflect(window.top[:, None] + place, images.shape[-2])
    image, channel = (torch.arange(n, device=images.device) for n in images.shape[:2])
    return images[
        image[:, None, None, None],
        channel[None, :, None, None],
        rows[:, None, :, None],
        columns[:, None, None, :],
    ]


def _by_matrices(images: Pixels, window: Window) -> Seen:
    assert window.size is not None
    (height, width), (tall, wide) = images.shape[-2:], window.size
    kind, across = window.interpolation, torch.zeros_like(window.mirrored)
    if (height, tall) == (width, wide):  # both in one call: half the operators
        starts = torch.cat([window.top, window.left])
        lengths = torch.cat([window.height, window.width])
        mirrors = torch.cat([across, window.mirrored])
        both = line_weights(starts, lengths, mirrors, into=wide, of=width, interpolation=kind)
        rows, columns = both.chunk(2)
        return apply_matrices(rows, images, columns)
    rows = line_weights(window.top, window.height, across, into=tall, of=height, interpolation=kind)
    columns = line_weights(
        window.left, window.width, window.mirrored, into=wide, of=width, interpolation=kind
    )
    return apply_matrices(rows, images, columns)


def _one_by_one(images: Pixels, window: Window) -> Seen:
    pairs = zip(images, window.boxes(), strict=True)
    return torch.cat([resample_one(image[None], box, window) for image, box in pairs])


def resample_one(image: Shaped[Tensor, "1 channel height width"], box: Box, window: Window) -> Seen:
    """Return what one box shows of one image, at the window's size."""
    part = _cut(image, box)
    if window.size is not None and part.shape[-2:] != window.size:
        part = F.interpolate(part, window.size, mode=window.interpolation, antialias=True)
    return part.flip(-1) if box.mirrored else part


def _cut(image: Tensor, box: Box) -> Tensor:
    """Cut a box out of one image, reflected where it reaches over the border."""
    tall, wide = image.shape[-2:]
    bottom, right = box.top + box.height, box.left + box.width
    if box.top >= 0 and box.left >= 0 and bottom <= tall and right <= wide:
        return image[..., box.top : bottom, box.left : right]
    rows = reflect(torch.arange(box.top, bottom, device=image.device), tall)
    columns = reflect(torch.arange(box.left, right, device=image.device), wide)
    return image.index_select(-2, rows).index_select(-1, columns)
