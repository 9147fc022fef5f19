"""The table of methods."""

from collections.abc import Callable
from importlib import import_module

from counterpoint.catalogue import METHODS as FILES
from counterpoint.framework import Method
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe

_MODULES = {name: import_module(f"counterpoint.methods.{name}") for name in FILES}

RECIPES: dict[str, Recipe] = {
    name: recipe for module in _MODULES.values() for name, recipe in module.RECIPES.items()
}
"""Every method by name: as in its authors' code, `-paper` as printed, `-small` for a CPU.

A method is a file here with its RECIPES and its ORIGIN, and a line in the catalogue.
"""

ORIGINS: dict[str, Origin] = {name: module.ORIGIN for name, module in _MODULES.items()}
"""Who had each idea, when, and which method it changed."""

ALL = list(FILES)
"""All methods: the seven of the paper, then the others in the order of the catalogue."""

SEVEN = ["amdim", "cpc", "simclr", "moco", "byol", "cmc", "yadim"]
"""The methods of the paper, in the order of the README."""

METHODS: dict[str, Callable[..., Method]] = {
    name: recipe.compose for name, recipe in RECIPES.items()
}
"""The function that composes each method, by its name: `METHODS["simclr"](size=64)`."""
