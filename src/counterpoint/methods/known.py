"""The table of methods."""

from collections.abc import Callable
from importlib import import_module

from counterpoint.catalogue import METHODS as FILES
from counterpoint.framework import Method
from counterpoint.methods.recipe import Recipe

RECIPES: dict[str, Recipe] = {
    name: recipe
    for file in FILES
    for name, recipe in import_module(f"counterpoint.methods.{file}").RECIPES.items()
}
"""Every method by name: as in its authors' code, `-paper` as printed, `-small` for a CPU.

A method is a file here with its RECIPES, and a line in the catalogue.
"""

SEVEN = ["amdim", "cpc", "simclr", "moco", "byol", "cmc", "yadim"]
"""The methods of the paper, in the order of the README."""

METHODS: dict[str, Callable[..., Method]] = {
    name: recipe.compose for name, recipe in RECIPES.items()
}
"""The function that composes each method, by its name: `METHODS["simclr"](size=64)`."""
