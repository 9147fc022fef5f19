"""What a method is called: the recipe that it is, or the one that it is nearest to."""

from counterpoint.framework import Method
from counterpoint.methods.recognising import FAR, nearest_recipe
from counterpoint.report.words import listed


def name_of(method: Method) -> str:
    """Name a method.

    >>> from counterpoint.methods import named
    >>> from counterpoint import Triplet
    >>> name_of(named("moco", size=32))
    'moco'
    >>> name_of(named("simclr-small", size=32).swap(loss=Triplet()))
    'simclr-small with another loss'
    """
    name, different = nearest_recipe(method)
    if len(different) > FAR:
        return "method of your own"
    return f"{name} with another {listed(different)}" if different else name
