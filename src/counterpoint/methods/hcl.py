"""HCL (Robinson et al. 2020): negatives that are near the anchor count more."""

from dataclasses import replace

from counterpoint.framework import Encoder, Method
from counterpoint.methods.debiased import FEW, SMALL, debiased, debiased_small
from counterpoint.methods.debiased import REFERENCE as DEBIASED
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.losses import HardNegatives

ORIGIN = Origin(
    title="HCL",
    authors="Robinson et al.",
    year=2020,
    arxiv="2010.04592",
    after="debiased",
    idea="Negatives that are near the anchor count more, and how much more is one number.",
)


def hcl(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose HCL: the debiased loss with hard negatives.

    >>> print(hcl().loss)
    HardNegatives(beta=1.0, prior=0.1)
    """
    return debiased(encoder, size=size).swap(loss=HardNegatives(beta=1.0, prior=0.1))


def hcl_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose HCL for minutes on two cores.

    >>> hcl_small().loss.beta
    1.0
    """
    return debiased_small(encoder, size=size).swap(loss=HardNegatives(beta=1.0, prior=0.1))


RECIPES = {
    "hcl": Recipe(hcl, replace(DEBIASED, epochs=400)),  # joshr17/HCL, image/main.py
    "hcl-small": Recipe(hcl_small, FEW),
}
