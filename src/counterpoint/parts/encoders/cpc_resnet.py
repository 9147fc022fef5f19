"""CPC's encoder: a ResNet with layer norm and a wide, deep third stack (section 2.2)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch.nn.functional as F
from torch import Tensor, nn

from counterpoint.framework import PartError
from counterpoint.framework.records import Shape
from counterpoint.parts.encoders.feature_maps import FeatureMaps, one_channel_count
from counterpoint.parts.encoders.narrow import layers


@dataclass(frozen=True, slots=True, kw_only=True)
class CPCResNet:
    """CPC's ResNet: bottleneck blocks in four stacks, for a view or for each patch of one.

    The defaults are the paper's: ResNet-101 whose third stack has 46 blocks for 23, a
    bottleneck of 512 for 256, and 4,096 maps for 1,024.

    >>> import torch
    >>> encoder = CPC_SMALL.build(((4, 4, 3, 8, 8),))
    >>> (maps,) = encoder((torch.zeros(2, 4, 4, 3, 8, 8),))  # 4 x 4 patches of 8 x 8 pixels
    >>> tuple(maps[-1].shape)
    (2, 256, 4, 4)
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    blocks: tuple[int, ...] = (3, 4, 46, 3)
    bottlenecks: tuple[int, ...] = (64, 128, 512, 512)
    widths: tuple[int, ...] = (256, 512, 4096, 2048)
    stem: int = 64
    stride: int = 1
    """Of the 3x3 stem."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.blocks) == len(self.bottlenecks) == len(self.widths):
            raise PartError(
                "encoder",
                got=f"{self.blocks}, {self.bottlenecks} and {self.widths}",
                needs="blocks, bottlenecks and widths for the same stacks",
            )

    def build(self, views: tuple[Shape, ...]) -> FeatureMaps:
        backbone = nn.Sequential()
        channels = one_channel_count(views)
        backbone.add_module(
            "conv1", nn.Conv2d(channels, self.stem, 3, self.stride, padding=1, bias=False)
        )
        backbone.add_module("norm1", layer_norm(self.stem))
        backbone.add_module("relu", nn.ReLU(inplace=True))
        before = self.stem
        stacks = zip(self.blocks, self.bottlenecks, self.widths, strict=True)
        for number, (blocks, narrow, wide) in enumerate(stacks, start=1):
            stack = nn.Sequential()
            for place in range(blocks):
                stride = 2 if place == 0 and number > 1 else 1
                stack.append(Bottleneck(before, narrow, wide, stride))
                before = wide
            backbone.add_module(f"layer{number}", stack)
        return FeatureMaps(backbone, layers)


CPC_RESNET101 = CPCResNet()
"""The encoder of CPC in the paper: ResNet-101 with a wide, deep third stack."""
CPC_RESNET50 = CPCResNet(blocks=(3, 4, 12, 3))
"""The same change of ResNet-50's third stack."""
CPC_SMALL = CPCResNet(
    blocks=(1, 1, 2), bottlenecks=(16, 32, 64), widths=(64, 128, 256), stem=32, stride=2
)
"""A small one, for minutes on two cores."""


class Bottleneck(nn.Module):
    """1x1, 3x3, 1x1 with layer norms, beside a shortcut."""

    def __init__(self, before: int, narrow: int, wide: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, narrow, 1, bias=False)
        self.norm1 = layer_norm(narrow)
        self.conv2 = nn.Conv2d(narrow, narrow, 3, stride, padding=1, bias=False)
        self.norm2 = layer_norm(narrow)
        self.conv3 = nn.Conv2d(narrow, wide, 1, bias=False)
        self.norm3 = layer_norm(wide)
        self.downsample = (
            nn.Sequential(nn.Conv2d(before, wide, 1, stride, bias=False), layer_norm(wide))
            if stride != 1 or before != wide
            else nn.Identity()
        )

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)))
        y = F.relu(self.norm2(self.conv2(y)))
        return F.relu(self.norm3(self.conv3(y)) + self.downsample(x))


def layer_norm(channels: int) -> nn.GroupNorm:
    """Normalise each patch over all its channels and pixels: no patch sees another.

    With a weight for each channel; bolts has one for each channel and pixel, which ties the
    encoder to one patch size.
    """
    return nn.GroupNorm(1, channels)


__all__ = ["CPC_RESNET50", "CPC_RESNET101", "CPC_SMALL", "CPCResNet"]
