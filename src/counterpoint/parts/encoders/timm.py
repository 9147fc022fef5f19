"""Any encoder of timm by its name."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import timm
from torch import Tensor, nn

from counterpoint.framework import PartError
from counterpoint.framework.records import Maps, Shape
from counterpoint.parts.encoders.feature_maps import FeatureMaps, one_channel_count


@dataclass(frozen=True, slots=True)
class Timm:
    """A model of timm, untrained, that gives its intermediate feature maps."""

    part: ClassVar[Literal["encoder"]] = "encoder"

    name: str

    def __post_init__(self) -> None:
        if not timm.is_model(self.name):
            near = timm.list_models(f"*{self.name.split('_')[0]}*")[:5]
            raise PartError(
                "encoder",
                got=repr(self.name),
                needs="a name of timm",
                do=f"near it are {', '.join(near)}" if near else "see timm.list_models()",
            )

    def build(self, views: tuple[Shape, ...]) -> FeatureMaps:
        options: dict[str, Any] = {"in_chans": one_channel_count(views)}
        config = timm.get_pretrained_cfg(self.name)
        if config is not None and config.fixed_input_size:  # transformers with a position table
            options["img_size"] = views[0][-2:]
        backbone = timm.create_model(self.name, pretrained=False, num_classes=0, **options)
        if not hasattr(backbone, "forward_intermediates"):
            raise PartError(
                "encoder",
                got=f"{self.name}, which shows no feature maps",
                needs="a timm model with forward_intermediates",
            )
        return FeatureMaps(backbone, intermediates)


def intermediates(backbone: nn.Module, view: Tensor) -> Maps:
    """Give every intermediate map that timm offers, shallow to deep."""
    net: Any = backbone
    return tuple(net.forward_intermediates(view, intermediates_only=True))
