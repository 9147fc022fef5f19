"""One interface to feature maps: a backbone, and how its maps are read."""

from collections.abc import Callable
from itertools import groupby
from math import prod

import torch
from torch import Tensor, nn

from counterpoint.framework import PartError
from counterpoint.framework.optional import Architecture
from counterpoint.framework.records import Maps, Shape, View
from counterpoint.parts.batch_norm import rows_of_images


class FeatureMaps(nn.Module):
    """A built encoder: it runs several views through one backbone and returns their maps.

    The maps of a view are ordered from shallow to deep. `backbone` keeps the key names of the
    library that it came from, so that its weights load there.

    >>> from counterpoint.parts.encoders import NarrowResNet
    >>> encoder = NarrowResNet(widths=(8, 16), blocks=(1, 1)).build(((3, 16, 16), (3, 16, 16)))
    >>> maps, same = encoder((torch.zeros(2, 3, 16, 16), torch.zeros(2, 3, 16, 16)))
    >>> [tuple(m.shape) for m in maps]
    [(2, 8, 8, 8), (2, 16, 4, 4)]
    """

    def __init__(
        self,
        backbone: nn.Module,
        maps: Callable[[nn.Module, Tensor], Maps],
        *,
        made_by: str | None = None,
        architecture: Architecture | None = None,
        library_lines: str | None = None,
    ) -> None:
        super().__init__()
        self.made_by = made_by
        """The line of its library that makes the same backbone, which its weights load into."""
        self.architecture = architecture
        """The network of timm that its weights load into."""
        self.library_lines = library_lines
        """Lines of Python that make the same backbone and call it `model`."""
        self.backbone = backbone.to(memory_format=torch.channels_last)
        self.maps = maps

    def forward(self, views: tuple[View, ...]) -> tuple[Maps, ...]:
        return encode_together(lambda view: patchwise(self.backbone, self.maps, view), views)


def encode_together(maps: Callable[[Tensor], Maps], views: tuple[View, ...]) -> tuple[Maps, ...]:
    """Run views of one shape as one batch: fewer calls, and batch norm sees all of them.

    google-research/simclr concatenates its views too; statistics per view are another method.

    >>> views = torch.ones(1, 3, 2, 2), torch.zeros(1, 3, 2, 2)
    >>> double = encode_together(lambda view: (2 * view,), views)
    >>> [maps[-1].mean().item() for maps in double]
    [2.0, 0.0]
    """
    results: list[Maps] = []
    for _, group in groupby(views, key=lambda view: view.shape[1:]):
        batch = list(group)
        if len(batch) == 1:  # any number of images, also one that an export leaves open
            results.append(maps(batch[0]))
            continue
        joined = torch.cat(batch)
        split = [m.split([len(view) for view in batch]) for m in maps(joined)]
        results.extend(zip(*split, strict=True))
    return tuple(results)


def patchwise(backbone: nn.Module, maps: Callable[[nn.Module, Tensor], Maps], view: Tensor) -> Maps:
    """Run a view, or each patch of a grid (b, p, p, c, q, q), which comes back as (b, c, p, p).

    The maps of a patch are averaged: at each level a patch is one vector.
    """
    grid = view.shape[:-3]
    images = view.flatten(0, -4) if len(grid) > 1 else view
    # Channels last: a quarter faster on a CPU, and what tensor cores want.
    images = images.contiguous(memory_format=torch.channels_last)
    rows_of_images(backbone, prod(grid[1:]))
    found = maps(backbone, images)
    if len(grid) == 1:
        return found
    return tuple(m.mean(dim=(2, 3)).unflatten(0, grid).permute(0, 3, 1, 2) for m in found)


def one_channel_count(views: tuple[Shape, ...]) -> int:
    """Read the number of channels; one encoder takes only one."""
    channels = {shape[-3] for shape in views}
    if len(channels) != 1:
        raise PartError(
            "encoder",
            got=f"views with {sorted(channels)} channels",
            needs="the same number in every view",
            do="an encoder per view takes different ones",
        )
    return channels.pop()
