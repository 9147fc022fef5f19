"""A network that all views share, and a head for each of them."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from counterpoint.framework import Encoder
from counterpoint.framework.records import Shape
from counterpoint.parts.encoders.headed import HeadedEncoder
from counterpoint.parts.encoders.momentum_encoder import refuse_twin

GRID = 5  # dimensions of a view that is a grid of patches


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewHeads:
    """Another encoder with a linear head for each view, whose outputs are one more, last map.

    The head of a whole view reads the mean of the last map. That of a view of patches has a linear
    map for the vector of each patch, and another for all of them side by side, in their order:
    what PIRL has for the image and for its jigsaw.

    >>> from counterpoint.parts.encoders import NarrowResNet
    >>> heads = ViewHeads(of=NarrowResNet(widths=(8,), blocks=(1,)), out=4)
    >>> encoder = heads.build(((3, 16, 16), (3, 3, 3, 8, 8)))
    >>> image, patches = encoder((torch.zeros(2, 3, 16, 16), torch.zeros(2, 3, 3, 3, 8, 8)))
    >>> [tuple(m.shape) for m in patches]
    [(2, 8, 3, 3), (2, 4, 1, 1)]
    >>> image[-1].shape == patches[-1].shape
    True
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    of: Encoder
    out: int = 128  # PIRL, section 3.2

    def build(self, views: tuple[Shape, ...]) -> HeadedEncoder:
        encoder = self.of.build(views)
        assert isinstance(encoder, nn.Module)
        refuse_twin(encoder, inside="ViewHeads", do="write MomentumEncoder(of=ViewHeads(of=...))")
        with torch.device("meta"):
            dry = self.of.build(views)
            maps = dry(tuple(torch.empty(2, *shape) for shape in views))
        heads = [
            _head(one[-1].shape[1:], self.out, patches=len(view) == GRID)
            for view, one in zip(views, maps, strict=True)
        ]
        return HeadedEncoder(encoder, nn.ModuleList(heads), one_each)

    def __str__(self) -> str:
        return f"{self.of} -> a head {self.out} for each view"


def one_each(heads: nn.Module, maps: list[Tensor]) -> list[Tensor]:
    """Run the head of each view on its map; fewer views have the first heads.

    >>> head = nn.Sequential(nn.Flatten(), nn.Linear(3, 5))
    >>> [tuple(m.shape) for m in one_each(nn.ModuleList([head]), [torch.zeros(2, 3, 1, 1)])]
    [(2, 5, 1, 1)]
    """
    pairs = zip(heads.children(), maps, strict=False)
    return [head(one)[:, :, None, None] for head, one in pairs]


def _head(shape: Shape, out: int, *, patches: bool) -> nn.Module:
    channels, height, width = shape
    if not patches:
        return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, out))
    each, every = nn.Linear(channels, out), nn.Linear(height * width * out, out)
    return nn.Sequential(Places(), each, nn.Flatten(), every)


class Places(nn.Module):
    """The places of a map as a list of vectors.

    >>> Places()(torch.zeros(2, 8, 3, 3)).shape
    torch.Size([2, 9, 8])
    """

    def forward(self, maps: Tensor) -> Tensor:
        return maps.flatten(2).mT
