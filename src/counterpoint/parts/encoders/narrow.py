"""Narrow ResNets for small images on a CPU: timm's blocks, our widths."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from timm.models.resnet import BasicBlock
from timm.models.resnet import ResNet as TimmResNet
from torch import Tensor, nn

from counterpoint.framework import PartError
from counterpoint.framework.records import Maps, Shape, View
from counterpoint.parts.encoders.together import one_channel_count, together


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowResNet:
    """A ResNet of basic blocks with the widths, depths and first stride given."""

    part: ClassVar[Literal["encoder"]] = "encoder"

    widths: tuple[int, ...] = (64, 128, 256)
    """Channels of each stage, at most four; each stage halves the side of the one before."""
    blocks: tuple[int, ...] = (1, 1, 1)
    """Residual blocks of each stage."""
    stride: int = 2
    """Stride of the 3x3 stem."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.widths) == len(self.blocks) <= 4:
            raise PartError(
                "encoder",
                got=f"{len(self.widths)} widths and {len(self.blocks)} depths",
                needs="as many widths as depths, one to four",
            )

    def build(self, views: tuple[Shape, ...]) -> "NarrowEncoder":
        block: Any = BasicBlock
        net: Any = TimmResNet(
            block,
            self.blocks,
            channels=self.widths,
            num_classes=0,
            in_chans=one_channel_count(views),
        )
        stem = net.conv1
        net.conv1 = nn.Conv2d(
            stem.in_channels, stem.out_channels, 3, stride=self.stride, padding=1, bias=False
        )
        net.maxpool = nn.Identity()
        return NarrowEncoder(net, stages=len(self.widths))


class NarrowEncoder(nn.Module):
    """The feature maps of a narrow ResNet; `backbone` keeps timm's key names."""

    def __init__(self, backbone: nn.Module, *, stages: int) -> None:
        super().__init__()
        self.backbone, self.stages = backbone, stages

    def forward(self, views: tuple[View, ...]) -> tuple[Maps, ...]:
        return together(self.maps, views)

    def maps(self, view: Tensor) -> Maps:
        """Run the stem and keep the output of each stage."""
        net: Any = self.backbone
        x = net.act1(net.bn1(net.conv1(view)))
        maps = []
        for number in range(1, self.stages + 1):
            x = getattr(net, f"layer{number}")(x)
            maps.append(x)
        return tuple(maps)


NARROW = {"small": NarrowResNet()}
"""Sizes by name."""
