"""Narrow ResNets for small images on a CPU: torchvision's blocks, our widths."""

from collections import OrderedDict
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from torch import Tensor, nn
from torchvision.models.resnet import BasicBlock, Bottleneck

from counterpoint.framework import PartError
from counterpoint.framework.records import Maps, Shape
from counterpoint.parts.encoders.feature_maps import FeatureMaps, one_channel_count


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowResNet:
    """A ResNet of basic blocks with the widths, depths and first stride given.

    >>> import torch
    >>> encoder = NarrowResNet().build(((3, 32, 32),))
    >>> (maps,) = encoder((torch.zeros(2, 3, 32, 32),))
    >>> [tuple(m.shape) for m in maps]
    [(2, 64, 16, 16), (2, 128, 8, 8), (2, 256, 4, 4)]
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    widths: tuple[int, ...] = (64, 128, 256)
    """Channels of each stage; each stage halves the side of the one before."""
    blocks: tuple[int, ...] = (1, 1, 1)
    """Residual blocks of each stage."""
    stride: int = 2
    """Stride of the 3x3 stem."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.widths) == len(self.blocks):
            raise PartError(
                "encoder",
                got=f"{len(self.widths)} widths and {len(self.blocks)} depths",
                needs="as many widths as depths, at least one",
            )

    def build(self, views: tuple[Shape, ...]) -> FeatureMaps:
        channels, first = one_channel_count(views), self.widths[0]
        modules: OrderedDict[str, nn.Module] = OrderedDict(
            conv1=nn.Conv2d(channels, first, 3, stride=self.stride, padding=1, bias=False),
            bn1=nn.BatchNorm2d(first),
            relu=nn.ReLU(inplace=True),
        )
        for number, (before, after) in enumerate(pairwise((first, *self.widths)), start=1):
            stride = 1 if number == 1 else 2
            modules[f"layer{number}"] = _stage(before, after, stride, self.blocks[number - 1])
        backbone = nn.Sequential(modules)
        initialise(backbone)
        return FeatureMaps(backbone, layers)


def layers(backbone: nn.Module, view: Tensor) -> Maps:
    """Run the stem and keep the output of each stage."""
    x, maps = view, []
    for name, layer in backbone.named_children():
        x = layer(x)
        if name.startswith("layer"):
            maps.append(x)
    return tuple(maps)


def initialise(backbone: nn.Module, *, zero_init: bool = True) -> None:
    """Start convolutions as torchvision does, and every block as its shortcut unless told not."""
    for module in backbone.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        if zero_init and isinstance(module, BasicBlock):  # Goyal et al. 2017, section 5.1
            nn.init.zeros_(module.bn2.weight)
        if zero_init and isinstance(module, Bottleneck):
            nn.init.zeros_(module.bn3.weight)


def _stage(before: int, after: int, stride: int, blocks: int) -> nn.Sequential:
    shortcut = None
    if stride != 1 or before != after:
        shortcut = nn.Sequential(
            nn.Conv2d(before, after, 1, stride=stride, bias=False), nn.BatchNorm2d(after)
        )
    head = BasicBlock(before, after, stride, shortcut)
    return nn.Sequential(head, *(BasicBlock(after, after) for _ in range(blocks - 1)))


NARROW = {"small": NarrowResNet()}
"""Sizes by name."""
