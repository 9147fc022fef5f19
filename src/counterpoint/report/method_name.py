"""What a method is called: the recipe that it is, or the one that it is nearest to."""

import re

from counterpoint.framework import Method
from counterpoint.methods.recognising import FAR, nearest_recipe
from counterpoint.parts.encoders.innermost import innermost
from counterpoint.report.words import joined

TITLES = {
    "amdim": "AMDIM",
    "cpc": "CPC",
    "simclr": "SimCLR",
    "moco": "MoCo",
    "byol": "BYOL",
    "cmc": "CMC",
    "yadim": "YADIM",
}
DATA = {"cifar10": "CIFAR-10", "stl10": "STL-10", "imagenet": "ImageNet"}


def method_title(method: Method) -> str:
    """Name a method and its encoder for a heading.

    >>> from counterpoint import NarrowResNet, ResNet, byol, simclr
    >>> method_title(simclr(NarrowResNet())), method_title(byol(ResNet("resnet18")))
    ('SimCLR, narrow ResNet', 'BYOL, ResNet-18')
    """
    name, different = nearest_recipe(method)
    if len(set(different) - {"encoder"}) > FAR:
        return f"Method of your own, {encoder_title(method)}"
    family, _, variant = name.partition("-")
    said = TITLES.get(family, family) + (f" ({variant})" if variant not in ("", "small") else "")
    others = [part for part in different if part != "encoder"]
    swapped = f" with another {joined(others)}" if others else ""
    return f"{said}{swapped}, {encoder_title(method)}"


def encoder_title(method: Method) -> str:
    """Name the network inside of an encoder: by its own name, or by its class in words."""
    inner = innermost(method.encoder)
    name = getattr(inner, "name", None)
    if isinstance(name, str):
        return re.sub(r"^resnet(\d+)$", r"ResNet-\1", name)
    adjective = re.match(r"(Narrow|Thin)(?=[A-Z])", type(inner).__name__)
    own = type(inner).__name__[adjective.end() if adjective else 0 :]
    return f"{adjective[0].lower()} {own}" if adjective else own


def data_title(name: str) -> str:
    """Write the name of a data set as people do.

    >>> data_title("cifar10"), data_title("holiday photos")
    ('CIFAR-10', 'holiday photos')
    """
    return DATA.get(name, name)


def method_name(method: Method) -> str:
    """Name a method.

    >>> from counterpoint.methods import method_named
    >>> from counterpoint import Triplet
    >>> method_name(method_named("moco", size=32))
    'moco'
    >>> method_name(method_named("simclr-small", size=32).swap(loss=Triplet()))
    'simclr-small with another loss'
    """
    name, different = nearest_recipe(method)
    if len(different) > FAR:
        return "method of your own"
    return f"{name} with another {joined(different)}" if different else name
