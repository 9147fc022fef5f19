"""What a method is called: the recipe that it is, or the one that it is nearest to."""

from counterpoint.framework import Method
from counterpoint.methods.recognising import FAR, nearest_recipe
from counterpoint.report.words import joined


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
