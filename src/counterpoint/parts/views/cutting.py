"""Pictures of any size: decoded once, no larger than needed, and cut for every view."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import UInt8
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.framework.records import Images, Picture
from counterpoint.parts.views.resampling import resample
from counterpoint.parts.views.window import Window

Chain = tuple[Window, ...]
"""What is done to the pictures for one view: one window, or several after each other."""


def cut(pictures: Sequence[Picture], chains: Sequence[Chain]) -> tuple[Images, ...]:
    """Give the cuts of each chain; a picture is decoded once for all of them.

    Where every box will be shrunk, a picture may be decoded at a fraction of its size, never
    smaller than what is needed of it; boxes then move by less than one pixel of the view.
    """
    cuts: list[list[Tensor]] = [[] for _ in chains]
    for place, picture in enumerate(pictures):
        row = slice(place, place + 1)
        mine = [tuple(window.rows(row) for window in chain) for chain in chains]
        image = picture.decode(max(_needed(chain[0]) for chain in mine))[None]
        for view, chain in enumerate(mine):
            cuts[view].append(_seen(image, chain, picture))
    return tuple(_stacked(view) for view in cuts)


def _needed(window: Window) -> float:
    """Give the least scale at which the window's box still has the pixels of the view."""
    if window.size is None:
        return 1.0
    height, width = int(window.height), int(window.width)
    return min(1.0, max(window.size[0] / height, window.size[1] / width))


def _seen(image: UInt8[Tensor, "1 c h w"], chain: Chain, picture: Picture) -> Tensor:
    first, *others = chain
    if image.shape[-2:] != (picture.height, picture.width):
        first = _scaled(first, image, picture)
    for window in (first, *others):
        image = resample(image, window)
    return image.to(torch.uint8)


def _scaled(window: Window, image: Tensor, picture: Picture) -> Window:
    """Give the window on a picture that was decoded smaller than it is."""
    tall, wide = image.shape[-2:]
    down, across = tall / picture.height, wide / picture.width
    height = (window.height * down).round().long().clamp(1, tall)
    width = (window.width * across).round().long().clamp(1, wide)
    top = torch.minimum((window.top * down).round().long(), tall - height)
    left = torch.minimum((window.left * across).round().long(), wide - width)
    return replace(window, top=top, left=left, height=height, width=width)


def _stacked(parts: list[Tensor]) -> Images:
    sizes = {tuple(part.shape[-2:]) for part in parts}
    if len(sizes) > 1:
        raise PartError(
            "views",
            got=f"pictures of varying size: {sorted(sizes)[:3]}",
            needs="a stage that gives views of one size",
            do="begin with a random resized crop, or use images of one size",
        )
    return torch.cat(parts)
