"""The encoder inside of twins, heads and pairs."""

from dataclasses import is_dataclass, replace
from typing import Any, cast

from counterpoint.framework import Encoder


def innermost(outer: Encoder) -> Encoder:
    """Return the settings inside of all that is around them; of several the first.

    >>> from counterpoint.parts.encoders import Headed, MomentumEncoder, NarrowResNet
    >>> innermost(MomentumEncoder(of=Headed(of=NarrowResNet(), out=64))) == NarrowResNet()
    True
    """
    of = getattr(outer, "of", None)
    if isinstance(of, tuple):
        of = of[0] if of else None
    return outer if of is None else innermost(cast(Encoder, of))


def replace_innermost(outer: Encoder, inner: Encoder) -> Encoder:
    """Return the settings of an encoder with another one inside of all that is around it.

    Settings around others hold them in `of`, one or a tuple; a part of your own does so too.

    >>> from counterpoint.parts.encoders import Headed, MomentumEncoder, NarrowResNet, ResNet
    >>> twin = MomentumEncoder(of=Headed(of=NarrowResNet(), out=64))
    >>> print(replace_innermost(twin, ResNet("resnet18")))
    ResNet(name='resnet18', stem='small', zero_init=False) -> head 64, twin 0.999
    """
    of = getattr(outer, "of", None)
    if of is None or not is_dataclass(outer) or isinstance(outer, type):
        return inner
    if isinstance(of, tuple):
        several = tuple(replace_innermost(one, inner) for one in of)
        return cast(Encoder, replace(cast(Any, outer), of=several))
    return cast(Encoder, replace(cast(Any, outer), of=replace_innermost(of, inner)))
