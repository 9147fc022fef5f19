"""AMDIM's encoder: wide, without padding, with three maps for comparison (amdim-public)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch.nn.functional as F
from torch import Tensor, nn

from counterpoint.framework import PartError
from counterpoint.framework.records import Maps, Shape
from counterpoint.parts.encoders.feature_maps import FeatureMaps, one_channel_count

# Stacks of residual convolutions for each side of the image, as (growth, kernel, stride), where
# growth is the number of channels in units of `width`. The maps after the last three stages are
# 7 x 7, 5 x 5 and 1 x 1. Sides of 8 and 16 are ours, for patches: they end in 1 x 1.
STACKS: dict[int, tuple[tuple[int, int, int], ...]] = {
    8: ((2, 4, 2), (4, 2, 2)),
    16: ((2, 4, 2), (4, 2, 2)),
    32: ((2, 4, 2), (4, 2, 2), (4, 3, 1), (4, 3, 1)),
    64: ((2, 4, 2), (4, 4, 2), (8, 2, 2), (8, 3, 1), (8, 3, 1)),
    128: ((2, 4, 2), (4, 4, 2), (8, 2, 2), (8, 3, 1), (8, 3, 1)),
}
LAST = {8: 1}  # kernel of the last convolution; 3 elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class AMDIMEncoder:
    """A stack of residual 1x1 convolutions between a few that shrink the map.

    It gives three maps, 7 x 7, 5 x 5 and 1 x 1, all with `rkhs` channels.

    >>> import torch
    >>> encoder = AMDIMEncoder(width=8, rkhs=16, depth=1).build(((3, 32, 32),))
    >>> (maps,) = encoder((torch.zeros(2, 3, 32, 32),))
    >>> [tuple(m.shape) for m in maps]
    [(2, 16, 7, 7), (2, 16, 5, 5), (2, 16, 1, 1)]
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    width: int = 128  # amdim-public, train.py, --ndf
    rkhs: int = 1024  # amdim-public, train.py, --n_rkhs
    """Channels of all three maps."""
    depth: int = 3  # amdim-public, train.py, --n_depth
    """Residual convolutions in each stack."""

    def build(self, views: tuple[Shape, ...]) -> FeatureMaps:
        sides = {shape[-1] for shape in views}
        if len(sides) != 1 or not sides <= STACKS.keys():
            raise PartError(
                "encoder",
                got=f"views or patches of {sorted(sides)} pixels",
                needs=f"one side of {', '.join(map(str, STACKS))}",
                do="this encoder has no padding; a ResNet takes any side",
            )
        return FeatureMaps(_Net(one_channel_count(views), sides.pop(), self), three_maps)


class _Net(nn.Module):
    """Stem, stacks, the last convolution, and heads for the two maps before it."""

    def __init__(self, channels: int, side: int, settings: AMDIMEncoder) -> None:
        super().__init__()
        width = settings.width
        self.stem = _stem(channels, width, side)
        stacks, before = [], width
        for growth, kernel, stride in STACKS[side]:
            after = growth * width
            stacks.append(_stack(before, after, kernel, stride, settings.depth))
            before = after
        self.stacks = nn.ModuleList(stacks)
        self.last = nn.Sequential(
            Residual(before, settings.rkhs, LAST.get(side, 3), 1), nn.BatchNorm2d(settings.rkhs)
        )
        seen = 2 if len(stacks) > 2 else 0  # maps of 7 x 7 and 5 x 5: before the last two stacks
        self.heads = nn.ModuleList(Head(before, settings.rkhs) for _ in range(seen))


def three_maps(backbone: nn.Module, view: Tensor) -> Maps:
    """Return the 7 x 7, the 5 x 5 and the 1 x 1 map; of a patch, every output."""
    net = backbone
    assert isinstance(net, _Net)
    x, outputs = net.stem(view), []
    for stack in net.stacks:
        x = stack(x)
        outputs.append(x)
    # The stack after the 5 x 5 map has 3 x 3 and is not compared.
    heads = list(net.heads)
    seen = outputs[-1 - len(heads) : -1]
    maps = [head(output) for head, output in zip(heads, seen, strict=True)] if heads else outputs
    return (*maps, net.last(x))


class Residual(nn.Module):
    """A convolution, ReLU and 1x1, beside an average pool whose missing channels are zero."""

    def __init__(self, before: int, after: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, kernel, stride, bias=False)
        self.conv2 = nn.Conv2d(after, after, 1, bias=False)
        nn.init.zeros_(self.conv2.weight)  # amdim-public: each starts as its shortcut
        self.kernel, self.stride, self.grow = kernel, stride, after - before
        self.shrink = nn.Conv2d(before, after, kernel, stride) if after < before else None

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.conv2(F.relu(self.conv1(x)))
        if self.shrink is not None:
            beside: Tensor = self.shrink(x)
        else:
            beside = F.avg_pool2d(x, self.kernel, self.stride)
            beside = F.pad(beside, (0, 0, 0, 0, 0, self.grow))
        return changed + beside


class Head(nn.Module):
    """Bring a map to the width of the others: two 1x1 convolutions beside a linear shortcut."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 1, bias=False)
        self.conv2 = nn.Conv2d(after, after, 1, bias=False)
        self.shortcut = nn.Conv2d(before, after, 1)
        self.norm = nn.BatchNorm2d(after)
        nn.init.zeros_(self.conv2.weight)
        nn.init.uniform_(self.shortcut.weight, -0.01, 0.01)
        same = min(before, after)
        self.shortcut.weight.data[:same, :same, 0, 0].fill_diagonal_(1.0)

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(self.conv2(F.relu(self.conv1(x))) + self.shortcut(x))
        return normed


def _stem(channels: int, width: int, side: int) -> nn.Sequential:
    if side == 128:
        return nn.Sequential(
            nn.Conv2d(channels, width, 5, 2, padding=2, padding_mode="reflect"),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3),
            nn.ReLU(inplace=True),
        )
    first = [nn.Conv2d(channels, width, 3), nn.ReLU(inplace=True)]
    return nn.Sequential(*first, *([] if side == 64 else [Residual(width, width, 1, 1)]))


def _stack(before: int, after: int, kernel: int, stride: int, depth: int) -> nn.Sequential:
    first = Residual(before, after, kernel, stride)
    return nn.Sequential(first, *(Residual(after, after, 1, 1) for _ in range(depth - 1)))
