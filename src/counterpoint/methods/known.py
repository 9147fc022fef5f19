"""The table of methods."""

from collections.abc import Callable

from counterpoint.framework import Method
from counterpoint.methods.amdim import RECIPES as AMDIM
from counterpoint.methods.byol import RECIPES as BYOL
from counterpoint.methods.cmc import RECIPES as CMC
from counterpoint.methods.cpc import RECIPES as CPC
from counterpoint.methods.moco import RECIPES as MOCO
from counterpoint.methods.recipe import Recipe
from counterpoint.methods.simclr import RECIPES as SIMCLR
from counterpoint.methods.yadim import RECIPES as YADIM

RECIPES: dict[str, Recipe] = AMDIM | CPC | SIMCLR | MOCO | BYOL | CMC | YADIM
"""Every method by name: as its authors' code has it, `-paper` as printed, `-small` for a CPU."""

SEVEN = ["amdim", "cpc", "simclr", "moco", "byol", "cmc", "yadim"]
"""The methods of the paper, in the order of the README."""

METHODS: dict[str, Callable[..., Method]] = {
    name: recipe.compose for name, recipe in RECIPES.items()
}
