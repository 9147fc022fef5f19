"""The ResNets of torchvision, nine in the paper's table 1, with a stem for small images."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torchvision
from torch import Tensor, nn

from counterpoint.framework import PartError
from counterpoint.framework.optional import Architecture
from counterpoint.framework.pixels import Pixels
from counterpoint.framework.records import Maps, Shape
from counterpoint.parts.encoders.feature_maps import FeatureMaps, one_channel_count

IMAGENET_MEAN = (0.485, 0.456, 0.406)  # torchvision, transforms/_presets.py, as is the next
IMAGENET_STD = (0.229, 0.224, 0.225)
RESNETS = (
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext101_32x8d",
    "wide_resnet50_2",
    "wide_resnet101_2",
)
"""The names that `ResNet` takes."""


@dataclass(frozen=True, slots=True)
class ResNet:
    """A torchvision ResNet that gives its four stages as feature maps.

    >>> import torch
    >>> encoder = ResNet("resnet18").build(((3, 16, 16),))
    >>> (maps,) = encoder((torch.zeros(2, 3, 16, 16),))
    >>> [tuple(m.shape[1:]) for m in maps]
    [(64, 16, 16), (128, 8, 8), (256, 4, 4), (512, 2, 2)]
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    name: str = "resnet18"
    stem: Literal["small", "imagenet"] = "small"
    """small: 3x3 convolution, no pooling (Chen et al. 2020, appendix B.9, for CIFAR-10);
    imagenet: 7x7 with stride 2, then max-pooling, torchvision's own."""
    zero_init: bool = False
    """Start every block as its shortcut: the scale of its last batch norm is 0 (Goyal et al.
    2017, section 5.1; google-research/simclr, resnet.py, init_zero). torchvision's is 1."""

    def __post_init__(self) -> None:
        if self.name not in RESNETS:
            raise PartError("encoder", got=repr(self.name), needs=f"one of {', '.join(RESNETS)}")

    @property
    def classifier(self) -> tuple[str, ...]:
        """The layer of torchvision's classifier, which this encoder does not have."""
        return ("fc",)

    @property
    def pixels(self) -> Pixels | None:
        """How torchvision's weights want to see pixels; with a small stem there are none."""
        if self.stem == "small":
            return None
        return Pixels(IMAGENET_MEAN, IMAGENET_STD, origin=f"torchvision's {self.name}")

    def build(self, views: tuple[Shape, ...]) -> FeatureMaps:
        channels = one_channel_count(views)
        backbone = torchvision.models.get_model(
            self.name, weights=None, zero_init_residual=self.zero_init
        )
        first = backbone.conv1
        if self.stem == "small":
            backbone.conv1 = nn.Conv2d(channels, first.out_channels, 3, padding=1, bias=False)
            backbone.maxpool = nn.Identity()
        elif channels != first.in_channels:
            backbone.conv1 = nn.Conv2d(
                channels, first.out_channels, 7, stride=2, padding=3, bias=False
            )
        backbone.fc = nn.Identity()
        return FeatureMaps(
            backbone,
            stages,
            architecture=self._architecture(channels),
            library_lines=self._lines(backbone.conv1),
        )

    def _architecture(self, channels: int) -> Architecture | None:
        """Name the same network of timm, which has the same names of weights but no small stem."""
        if self.stem == "small":
            return None
        return Architecture(self.name, {} if channels == 3 else {"in_chans": channels})

    def _lines(self, first: nn.Conv2d) -> str:
        """Write the lines that make this network with torchvision alone."""
        side, stride = first.kernel_size[0], first.stride[0]
        lines = [f"model = torchvision.models.{self.name}(weights=None)"]
        if self.stem == "small" or first.in_channels != 3:
            lines.append(
                f"model.conv1 = torch.nn.Conv2d({first.in_channels}, {first.out_channels}, {side}, "
                f"stride={stride}, padding={side // 2}, bias=False)"
            )
        if self.stem == "small":
            lines.append("model.maxpool = torch.nn.Identity()")
        return "\n".join([*lines, "model.fc = torch.nn.Identity()"])


def stages(backbone: nn.Module, view: Tensor) -> Maps:
    """Run the stem and keep the output of each of the four stages."""
    net: Any = backbone
    x = net.maxpool(net.relu(net.bn1(net.conv1(view))))
    maps = []
    for stage in (net.layer1, net.layer2, net.layer3, net.layer4):
        x = stage(x)
        maps.append(x)
    return tuple(maps)
