"""Encoders by name, for the command line."""

import difflib

from counterpoint.framework import Encoder, PartError
from counterpoint.parts.encoders.narrow import NARROW
from counterpoint.parts.encoders.resnet import RESNETS, ResNet
from counterpoint.parts.encoders.timm import Timm

SMALL_IMAGE = 64  # up to this side the small stem; STL-10 at 64 px is the paper's largest small one


def encoder_named(name: str, *, size: int) -> Encoder:
    """Give the settings of an encoder for images of one size.

    >>> encoder_named("resnet50", size=224)
    ResNet(name='resnet50', stem='imagenet')
    """
    if name in RESNETS:
        return ResNet(name, stem="small" if size <= SMALL_IMAGE else "imagenet")
    if name in NARROW:
        return NARROW[name]
    if name.startswith("timm/"):
        return Timm(name.removeprefix("timm/"))
    known = [*RESNETS, *NARROW, "timm/NAME"]
    near = difflib.get_close_matches(name, known, n=1)
    raise PartError(
        "encoder",
        got=repr(name),
        needs=f"one of {', '.join(known)}",
        do=f"did you mean {near[0]}?" if near else "",
    )
