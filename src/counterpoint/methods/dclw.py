"""DCLW (Yeh et al. 2021): DCL with weights of positives."""

from counterpoint.framework import Encoder, Method
from counterpoint.methods.dcl import FEW, REFERENCE, SMALL, dcl, dcl_small
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.losses import WeightedPositives

ORIGIN = Origin(
    title="DCLW",
    authors="Yeh et al.",
    year=2021,
    arxiv="2110.06848",
    after="dcl",
    idea="Positives that are far apart count more than those that already agree.",
)


def dclw(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose DCLW: DCL with a weight for every positive.

    >>> print(dclw().loss)
    WeightedPositives(sigma=0.5)
    """
    return dcl(encoder, size=size).swap(loss=WeightedPositives())


def dclw_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose DCLW for minutes on two cores.

    >>> dclw_small().similarity == dcl_small().similarity
    True
    """
    return dcl_small(encoder, size=size).swap(loss=WeightedPositives())


RECIPES = {"dclw": Recipe(dclw, REFERENCE), "dclw-small": Recipe(dclw_small, FEW)}
