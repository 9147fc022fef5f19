"""The types of ResNet in the paper's table 1 at a fraction of their width, for a CPU."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck

from counterpoint.framework import PartError
from counterpoint.framework.records import Shape
from counterpoint.parts.encoders.feature_maps import FeatureMaps, one_channel_count
from counterpoint.parts.encoders.narrow import initialise, layers

FULL = 64  # planes of the first stage of every ResNet (He et al. 2016, table 1)
WIDTHS = (4, 8, 16, 32, 64)


class Type(NamedTuple):
    """What makes a ResNet one of its type, whatever its width."""

    block: type[BasicBlock] | type[Bottleneck]
    blocks: tuple[int, int, int, int]
    inner: int = 1
    """Width of the 3x3 convolution of a bottleneck, in planes."""
    group: int | None = None
    """Channels in each group of that convolution; one group if not given."""


TYPES = {
    # He et al. 2016, table 1.
    "resnet18": Type(BasicBlock, (2, 2, 2, 2)),
    "resnet34": Type(BasicBlock, (3, 4, 6, 3)),
    "resnet50": Type(Bottleneck, (3, 4, 6, 3)),
    # Xie et al. 2017, table 1: 32 groups of 4 channels, twice the 64 planes.
    "resnext50_32x4d": Type(Bottleneck, (3, 4, 6, 3), inner=2, group=4),
    # Zagoruyko and Komodakis 2016: the bottleneck twice as wide.
    "wide_resnet50_2": Type(Bottleneck, (3, 4, 6, 3), inner=2),
}
STEMS = {"small": (3, 1, 1), "imagenet": (7, 2, 3)}
"""Side, stride and padding of the first convolution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinResNet:
    """A ResNet with the blocks and depth of its type and `width` planes where it has 64.

    A grouped convolution keeps the channels of a group and has fewer groups. Every block starts as
    its shortcut, as in `NarrowResNet`: a deep one needs that in short runs (decision 0016). CMC's
    two networks of half width are `ThinResNet(name="resnet50", width=32, stem_width=64,
    stem="imagenet", zero_init=False)`.

    >>> import torch
    >>> encoder = ThinResNet(name="resnet18", width=4).build(((3, 16, 16),))
    >>> (maps,) = encoder((torch.zeros(2, 3, 16, 16),))
    >>> [m.shape[1] for m in maps]  # a sixteenth of 64, 128, 256 and 512
    [4, 8, 16, 32]
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    name: str = "resnet18"
    width: int = 16
    stem: Literal["small", "imagenet"] = "small"
    """small: 3x3 convolution, no pooling; imagenet: 7x7 with stride 2, then max-pooling, which
    leaves a sixteenth of the places."""
    stem_width: int | None = None
    """Channels of the stem; None takes `width`. CMC halves the stages and keeps a stem of 64
    (HobbitLong/CMC, models/resnet.py, width=0.5)."""
    zero_init: bool = True
    """Start every block as its shortcut; CMC's code does not."""

    def __post_init__(self) -> None:
        if self.name not in TYPES:
            raise PartError("encoder", got=repr(self.name), needs=f"one of {', '.join(TYPES)}")
        if self.width not in WIDTHS:
            needs = f"one of {', '.join(map(str, WIDTHS))}"
            raise PartError("encoder", got=f"a width of {self.width}", needs=needs)
        if self.stem_width is not None and self.stem_width < 1:
            raise PartError("encoder", got=f"stem_width={self.stem_width}", needs="1 or more")

    def build(self, views: tuple[Shape, ...]) -> FeatureMaps:
        first = self.stem_width or self.width
        modules: OrderedDict[str, nn.Module] = OrderedDict(
            conv1=nn.Conv2d(one_channel_count(views), first, *STEMS[self.stem], bias=False),
            bn1=nn.BatchNorm2d(first),
            relu=nn.ReLU(inplace=True),
        )
        if self.stem == "imagenet":
            modules["maxpool"] = nn.MaxPool2d(3, stride=2, padding=1)
        kind, before = TYPES[self.name], first
        for number in range(4):
            modules[f"layer{number + 1}"] = _stage(kind, before, self.width, number)
            before = self.width * 2**number * kind.block.expansion
        backbone = nn.Sequential(modules)
        initialise(backbone, zero_init=self.zero_init)
        return FeatureMaps(backbone, layers)


def _stage(kind: Type, before: int, width: int, number: int) -> nn.Sequential:
    """Return the blocks of one stage; each but the first halves the side."""
    planes, stride = width * 2**number, 1 if number == 0 else 2
    after = planes * kind.block.expansion
    groups = 1 if kind.group is None else width * kind.inner // kind.group
    base = FULL * kind.inner // groups  # torchvision's inner width: groups * planes * base / 64
    shortcut = None
    if stride != 1 or before != after:
        shortcut = nn.Sequential(
            nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
        )
    first = kind.block(before, planes, stride, shortcut, groups, base)
    more = (
        kind.block(after, planes, groups=groups, base_width=base)
        for _ in range(kind.blocks[number] - 1)
    )
    return nn.Sequential(first, *more)
