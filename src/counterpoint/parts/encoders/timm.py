"""Any encoder of timm by its name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, Literal, NamedTuple

import timm
import torch
from torch import Tensor, nn

from counterpoint.framework import PartError
from counterpoint.framework.optional import Architecture
from counterpoint.framework.pixels import Pixels
from counterpoint.framework.records import Maps, Shape
from counterpoint.parts.encoders.feature_maps import FeatureMaps, one_channel_count
from counterpoint.spelling import did_you_mean


@dataclass(frozen=True, slots=True)
class Timm:
    """A model of timm, untrained, that gives its intermediate feature maps.

    The last map is what timm's own `forward_features` gives, normed where it norms: all that comes
    before the pooling is trained. What belongs to a classifier's head is not (docs/encoders.md).

    >>> encoder = Timm("resnet10t").build(((3, 64, 64),))
    >>> (maps,) = encoder((torch.zeros(2, 3, 64, 64),))
    >>> tuple(maps[-1].shape)
    (2, 512, 2, 2)
    """

    part: ClassVar[Literal["encoder"]] = "encoder"
    library: ClassVar[str] = "timm"

    name: str

    def __post_init__(self) -> None:
        if not timm.is_model(self.name):
            near = did_you_mean(self.name, timm.list_models(), limit=3)
            raise PartError(
                "encoder",
                got=repr(self.name),
                needs="a name of timm",
                do=near or "counterpoint encoders PART looks for names with PART in them",
            )

    @property
    def classifier(self) -> tuple[str, ...]:
        """The layers of timm's own classifier, which this encoder does not have."""
        config = timm.get_pretrained_cfg(self.name)
        found = None if config is None else config.classifier
        return (found,) if isinstance(found, str) else tuple(found or ())

    @property
    def pixels(self) -> Pixels | None:
        """How timm's weights of this name want to see pixels."""
        config = timm.get_pretrained_cfg(self.name)
        return None if config is None else timm_pixels(config.to_dict(), f"timm's {self.name}")

    def build(self, views: tuple[Shape, ...]) -> FeatureMaps:
        channels, side = one_channel_count(views), tuple(views[0][-2:])
        reading = _reading(self.name, channels, side)
        options = create_options(self.name, channels, side)
        backbone = timm.create_model(self.name, **options)
        given = "".join(f", {key}={value!r}" for key, value in options.items())
        line = f"timm.create_model({self.name!r}{given})"
        maps = partial(intermediates, norm=reading.norm) if reading.several else only_map
        given_args = {key: options[key] for key in options if key in ("in_chans", "img_size")}
        architecture = Architecture(self.name.partition(".")[0], given_args)
        return FeatureMaps(backbone, maps, made_by=line, architecture=architecture)


def timm_pixels(config: Mapping[str, Any], origin: str) -> Pixels | None:
    """Read how pixels are seen from a `pretrained_cfg`; None where it does not say so.

    >>> print(timm_pixels({"mean": [0.5] * 3, "std": [0.5] * 3, "crop_pct": 0.9}, "a test"))
    (x - 0.5) / 0.5
    """
    mean, std, size = (config.get(key) for key in ("mean", "std", "input_size"))
    if not mean or not std:
        return None
    how, share = config.get("interpolation"), config.get("crop_pct")
    return Pixels(
        tuple(map(float, mean)),
        tuple(map(float, std)),
        size=int(size[-1]) if size else None,
        interpolation="bilinear" if how == "bilinear" else "bicubic" if how == "bicubic" else None,
        share=float(share) if share else None,
        origin=origin,
    )


def create_options(name: str, channels: int, side: tuple[int, ...]) -> dict[str, Any]:
    """Say with what `timm.create_model` makes the same network, for views of one size.

    >>> create_options("resnet18", 3, (64, 64))
    {'pretrained': False, 'num_classes': 0}
    >>> create_options("vit_tiny_patch16_224", 1, (64, 64))
    {'pretrained': False, 'num_classes': 0, 'in_chans': 1, 'img_size': 64}
    """
    options: dict[str, Any] = {"pretrained": False, "num_classes": 0}
    if channels != 3:
        options["in_chans"] = channels
    config = timm.get_pretrained_cfg(name)
    if config is not None and config.fixed_input_size:  # transformers with a position table
        options["img_size"] = side[0] if len(set(side)) == 1 else side
    return options


class Reading(NamedTuple):
    """How the maps of a network are read."""

    several: bool
    """timm shows its intermediate maps; otherwise only the last is known."""
    norm: bool
    """The last norm is applied to them."""


@cache
def _reading(name: str, channels: int, side: tuple[int, ...]) -> Reading:
    """Try a network without data or memory and see how it shows its maps."""
    try:
        with torch.device("meta"):
            net: Any = timm.create_model(name, **create_options(name, channels, side))
            view = torch.empty(2, channels, *side)
            if hasattr(net, "forward_intermediates"):
                return _tried(net, view)
            last = net.forward_features(view)
    except (RuntimeError, AssertionError, ValueError, TypeError, NotImplementedError) as error:
        config = timm.get_pretrained_cfg(name)
        own = "" if config is None else f"its own are of {' x '.join(map(str, config.input_size))}"
        raise PartError(
            "encoder",
            got=f"{name} on views of {channels} x {' x '.join(map(str, side))}, which it does not "
            f"take ({str(error).partition(chr(10))[0] or type(error).__name__})",
            needs="views of a size that it takes",
            do=own,
        ) from error
    if not isinstance(last, Tensor) or last.ndim != 4:
        raise PartError(
            "encoder",
            got=f"{name}, which shows no feature maps",
            needs="a network of timm whose features have channels, rows and columns",
        )
    return Reading(several=False, norm=False)


def _tried(net: nn.Module, view: Tensor) -> Reading:
    """Read the maps with the last norm; a few networks offer them only without."""
    try:
        intermediates(net, view, norm=True)
    except AssertionError:
        intermediates(net, view, norm=False)
        return Reading(several=True, norm=False)
    return Reading(several=True, norm=True)


def intermediates(backbone: nn.Module, view: Tensor, *, norm: bool) -> Maps:
    """Return every intermediate map that timm offers, shallow to deep, and the last if it differs.

    Some networks end in a wider convolution behind their last stage (EfficientNet, GhostNet).
    """
    net: Any = backbone
    last, maps = net.forward_intermediates(view, norm=norm)
    wider = isinstance(last, Tensor) and last.ndim == 4 and last.shape[1] == net.num_features
    if wider and last.shape[1] != maps[-1].shape[1]:
        return (*maps, last)
    return tuple(maps)


def only_map(backbone: nn.Module, view: Tensor) -> Maps:
    """Return the last map of a network that does not show the others."""
    net: Any = backbone
    return (net.forward_features(view),)
