"""The methods: compositions, one screen each."""

from collections.abc import Callable, Mapping
from pathlib import Path

from counterpoint.framework import Method
from counterpoint.framework.parts import Views
from counterpoint.framework.training import Training
from counterpoint.methods import amdim as _amdim
from counterpoint.methods import byol as _byol
from counterpoint.methods import cmc as _cmc
from counterpoint.methods import cpc as _cpc
from counterpoint.methods import moco as _moco
from counterpoint.methods import simclr as _simclr
from counterpoint.methods import yadim as _yadim
from counterpoint.methods.recipe import Recipe
from counterpoint.parts import PARTS
from counterpoint.parts.encoders import encoder_named

RECIPES: dict[str, Recipe] = {
    name: recipe
    for file in (_amdim, _cpc, _simclr, _moco, _byol, _cmc, _yadim)
    for name, recipe in file.RECIPES.items()
}
"""Every method by name: as its authors' code has it, `-paper` as printed, `-small` for a CPU."""

SEVEN = ["amdim", "cpc", "simclr", "moco", "byol", "cmc", "yadim"]
"""The methods of the paper, in the order of the README."""

METHODS: dict[str, Callable[..., Method]] = {
    name: recipe.compose for name, recipe in RECIPES.items()
}

simclr, simclr_small = _simclr.simclr, _simclr.simclr_small
amdim, amdim_small = _amdim.amdim, _amdim.amdim_small
cpc, cpc_small = _cpc.cpc, _cpc.cpc_small
moco, moco_small = _moco.moco, _moco.moco_small
byol, byol_small = _byol.byol, _byol.byol_small
cmc, cmc_small = _cmc.cmc, _cmc.cmc_small
yadim, yadim_small = _yadim.yadim, _yadim.yadim_small


def training_of(name: str) -> Training:
    """Give the training settings that go with a method; those of SimCLR for a .json file."""
    return RECIPES[name].training if name in RECIPES else Training()


def named(
    name: str,
    *,
    size: int,
    encoder: str | None = None,
    parts: Mapping[str, type] | None = None,
) -> Method:
    """Compose a method by its name, or read it from a .json file; with an encoder by its name.

    `parts` are a user's own part classes, which the file may name.

    >>> named("simclr", size=32) == simclr()
    True
    """
    chosen = None if encoder is None else encoder_named(encoder, size=size)
    if name.endswith(".json"):
        method = read_method(Path(name).read_text(), parts=parts)
        return method if chosen is None else method.swap(encoder=chosen)
    if name not in METHODS:
        raise ValueError(f"method: got {name!r}; there are {', '.join(METHODS)}, or a .json file")
    compose = METHODS[name]  # keeps the twin or the head that belongs around an encoder
    return compose(size=size) if chosen is None else compose(chosen, size=size)


def views_named(name: str, *, size: int) -> Views:
    """Give part (1) of a method by its name.

    >>> print(views_named("cmc", size=32))
    1 x (random crop 0.08-1 to 32 -> flip 0.5 -> Lab -> normalise), split 1:2
    """
    return named(name, size=size).views


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
    "moco",
    "moco_small",
    "named",
    "read_method",
    "simclr",
    "simclr_small",
    "training_of",
    "views_named",
    "yadim",
    "yadim_small",
]
