"""Pictures of any size: decoded once, no larger than needed, and cut for every view."""

from collections.abc import Sequence

import torch
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.framework.records import Cuts, Images, Picture
from counterpoint.parts.views.resampling import resample_one
from counterpoint.parts.views.window import Box, Window

Chain = tuple[Window, ...]
"""What is done to the pictures for one view: one window, or several after each other."""


def cut(pictures: Sequence[Picture], chains: Sequence[Chain]) -> Cuts:
    """Return the cuts of each chain; a picture is decoded once for all of them.

    Where every box will be shrunk, a picture may be decoded at a fraction of its size, never
    smaller than what is needed of it; boxes then move by less than one pixel of the view.
    """
    boxes = [[window.boxes() for window in chain] for chain in chains]
    cuts: list[list[Tensor]] = [[] for _ in chains]
    for place, picture in enumerate(pictures):
        firsts = (
            (mine[0][place], chain[0].size) for mine, chain in zip(boxes, chains, strict=True)
        )
        image = picture.decode(max(_needed(box, size) for box, size in firsts))[None]
        for view, (mine, chain) in enumerate(zip(boxes, chains, strict=True)):
            first = _scaled(mine[0][place], image, picture)
            seen = resample_one(image, first, chain[0])
            for later, window in zip(mine[1:], chain[1:], strict=True):
                seen = resample_one(seen, later[place], window)
            cuts[view].append(seen)
        del image  # before the next is decoded: one picture at a time
    return tuple(stacked(view) for view in cuts)


def _needed(box: Box, size: tuple[int, int] | None) -> float:
    """Return the least scale at which a box still has the pixels of its view."""
    if size is None:
        return 1.0
    return min(1.0, max(size[0] / box.height, size[1] / box.width))


def _scaled(box: Box, image: Tensor, picture: Picture) -> Box:
    """Return the box on a picture that was perhaps decoded smaller than it is."""
    tall, wide = image.shape[-2:]
    if (tall, wide) == (picture.height, picture.width):
        return box
    down, across = tall / picture.height, wide / picture.width
    height, width = max(1, round(box.height * down)), max(1, round(box.width * across))
    top = min(round(box.top * down), tall - height)
    left = min(round(box.left * across), wide - width)
    return Box(top, left, height, width, box.mirrored)


def stacked(parts: Sequence[Tensor]) -> Images:
    """Put what was cut out of pictures into one batch; refuse cuts of several sizes."""
    sizes = {tuple(part.shape[-2:]) for part in parts}
    if len(sizes) > 1:
        raise PartError(
            "views",
            got=f"pictures of varying size: {sorted(sizes)[:3]}",
            needs="a stage that gives views of one size",
            do="begin with a random resized crop, or with a resize and a central crop",
        )
    return torch.cat(tuple(parts))
