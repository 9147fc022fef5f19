"""The methods: compositions, one screen each."""

from collections.abc import Mapping
from pathlib import Path

from counterpoint.framework import Method
from counterpoint.framework.contracts import Views
from counterpoint.methods.amdim import amdim, amdim_small
from counterpoint.methods.byol import byol, byol_small
from counterpoint.methods.cmc import cmc, cmc_small
from counterpoint.methods.cpc import cpc, cpc_small
from counterpoint.methods.known import METHODS, RECIPES, SEVEN
from counterpoint.methods.moco import moco, moco_small
from counterpoint.methods.recipe import Recipe
from counterpoint.methods.recognising import recipe_of, training_of
from counterpoint.methods.simclr import simclr, simclr_small
from counterpoint.methods.yadim import yadim, yadim_small
from counterpoint.parts import PARTS
from counterpoint.parts.encoders import encoder_named
from counterpoint.spelling import did_you_mean


def method_named(
    name: str,
    *,
    size: int,
    encoder: str | None = None,
    parts: Mapping[str, type] | None = None,
) -> Method:
    """Compose a method by its name, or read it from a .json file; with an encoder by its name.

    `parts` are a user's own part classes, which the file may name.

    >>> method_named("simclr", size=32) == simclr()
    True
    """
    chosen = None if encoder is None else encoder_named(encoder, size=size)
    if name.endswith(".json"):
        try:
            method = read_method(Path(name).read_text(), parts=parts)
        except ValueError as error:
            raise ValueError(f"method: {name} cannot be read: {error}") from error
        return method if chosen is None else method.swap(encoder=chosen)
    if name not in METHODS:
        near = did_you_mean(name, METHODS) or f"there are {', '.join(METHODS)}, or a .json file"
        raise ValueError(f"method: got {name!r}; {near}")
    compose = METHODS[name]  # keeps the twin or the head that belongs around an encoder
    return compose(size=size) if chosen is None else compose(chosen, size=size)


def views_named(name: str, *, size: int) -> Views:
    """Return part (1) of a method by its name.

    >>> print(views_named("cmc", size=32))
    1 x (random crop 0.08-1 to 32 -> flip 0.5 -> Lab -> normalise), split 1:2
    """
    return method_named(name, size=size).views


def read_method(text: str, *, parts: Mapping[str, type] | None = None) -> Method:
    """Read a method from JSON; `parts` adds a user's own part classes by name.

    >>> read_method(simclr().to_json()) == simclr()
    True
    """
    return Method.from_json(text, parts={**PARTS, **(parts or {})})


__all__ = [
    "METHODS",
    "RECIPES",
    "SEVEN",
    "Recipe",
    "amdim",
    "amdim_small",
    "byol",
    "byol_small",
    "cmc",
    "cmc_small",
    "cpc",
    "cpc_small",
    "method_named",
    "moco",
    "moco_small",
    "read_method",
    "recipe_of",
    "simclr",
    "simclr_small",
    "training_of",
    "views_named",
    "yadim",
    "yadim_small",
]
