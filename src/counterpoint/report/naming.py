"""What a method is called: the recipe that it is, or the one that it is nearest to."""

from dataclasses import replace

from counterpoint.framework import Method
from counterpoint.methods import METHODS
from counterpoint.parts.extraction import Bank
from counterpoint.report.words import listed


def name_of(method: Method, image: tuple[int, ...]) -> str:
    """Name a method for images of this shape.

    >>> from counterpoint.methods import named
    >>> from counterpoint import Triplet
    >>> name_of(named("moco", size=32), (3, 32, 32))
    'moco'
    >>> name_of(named("simclr-small", size=32).swap(loss=Triplet()), (3, 32, 32))
    'simclr-small with another loss'
    """
    name, different = nearest_recipe(method, image)
    if len(different) > 2:
        return "method of your own"
    return f"{name} with another {listed(different)}" if different else name


def nearest_recipe(method: Method, image: tuple[int, ...]) -> tuple[str, tuple[str, ...]]:
    """Find the recipe that shares most parts, and which parts differ from it."""
    method, found = _any_bank(method), []
    for name, compose in METHODS.items():
        try:
            recipe = _any_bank(compose(size=image[-1] if image else 32))
        except ValueError:  # this recipe does not go with images of this size
            continue
        pairs = ((p, getattr(recipe, p), getattr(method, p)) for p, _ in method.rows())
        found.append((name, tuple(part for part, one, other in pairs if one != other)))
    return min(found, key=lambda candidate: len(candidate[1]))


def _any_bank(method: Method) -> Method:
    """Forget how many images a memory bank holds: pretraining sets it."""
    if not isinstance(method.extraction, Bank):
        return method
    return method.swap(extraction=replace(method.extraction, samples=1))
