"""Encoders by name, for the command line."""

from typing import Literal

import timm

from counterpoint.framework import Encoder, PartError
from counterpoint.parts.encoders.narrow import NARROW
from counterpoint.parts.encoders.resnet import RESNETS, ResNet
from counterpoint.parts.encoders.timm import Timm
from counterpoint.spelling import did_you_mean

SMALL_IMAGE = 64  # up to this side the small stem; STL-10 at 64 px is the paper's largest small one


def resnet_for(name: str, size: int, *, zero_init: bool = False) -> ResNet:
    """Return a ResNet with the stem for images of one size.

    >>> resnet_for("resnet18", 32).stem, resnet_for("resnet18", 224).stem
    ('small', 'imagenet')
    """
    return ResNet(name, stem=stem_for(size), zero_init=zero_init)


def stem_for(size: int) -> Literal["small", "imagenet"]:
    """Name the stem of a ResNet for images of one size.

    >>> stem_for(64), stem_for(96)
    ('small', 'imagenet')
    """
    return "small" if size <= SMALL_IMAGE else "imagenet"


def encoder_named(name: str, *, size: int) -> Encoder:
    """Return the settings of an encoder for images of one size.

    `torchvision/resnet50` is resnet50, which is torchvision's.

    >>> encoder_named("resnet50", size=224)
    ResNet(name='resnet50', stem='imagenet', zero_init=False)
    """
    name = name.removeprefix("torchvision/")
    if name in RESNETS:
        return resnet_for(name, size)
    if name in NARROW:
        return NARROW[name]
    if name.startswith("timm/"):
        return Timm(name.removeprefix("timm/"))
    known = [*RESNETS, *NARROW]
    theirs = (f"timm/{one}" for one in timm.list_models())
    raise PartError(
        "encoder",
        got=repr(name),
        needs=f"one of {', '.join(known)}, timm/NAME",
        do=did_you_mean(name, known) or did_you_mean(f"timm/{name}", theirs),
    )
