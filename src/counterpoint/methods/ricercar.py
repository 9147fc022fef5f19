"""Ricercar: a method that `counterpoint design` found on CIFAR-10."""

from dataclasses import replace

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.alignuniform import RECIPES as ALIGNUNIFORM
from counterpoint.methods.alignuniform import SMALL, alignuniform
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.similarity import ProjectedCosine
from counterpoint.parts.views import ColourJitter, Pipeline, RandomResizedCrop, pipelines

ORIGIN = Origin(
    title="Ricercar",
    authors="Counterpoint",
    year=2026,
    after="alignuniform",
    idea=(
        "A search changed settings of alignment and uniformity: crops of half the side, more hue, "
        "a head that is wider and ends with a norm, and a higher learning rate."
    ),
)


def ricercar(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose what the search found with SimCLR's encoder and the hidden layer of its head.

    The search had images of 32 pixels and a narrow encoder (`ricercar_small`). Nobody has trained
    this one yet.

    >>> print(ricercar().views)
    2 x (random crop 0.25-1 to 16 -> flip 0.5 -> jitter 0.4/0.4/0.4/0.2 p 0.8 -> grey 0.2 -> normalise)
    """  # noqa: E501 (the views are one line)
    return alignuniform(encoder, size=size).swap(
        views=_found_views(pipelines.simclr_views(size, smallest=0.25)),
        similarity=ProjectedCosine(out=256, tau=1.0, last_norm="plain"),
    )


def ricercar_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose it for minutes on two cores: the candidate that the search found.

    It is the first of docs/design/second-search, there with an encoder of half the width.

    >>> print(ricercar_small().similarity)
    ProjectedCosine(hidden=512, out=256, tau=1.0, learn_tau=False, last_norm='plain')
    """
    return ricercar(encoder, size=size).swap(
        similarity=ProjectedCosine(hidden=512, out=256, tau=1.0, last_norm="plain")
    )


def _found_views(views: Pipeline) -> Pipeline:
    """Return SimCLR's views with crops of half the side and twice the jitter of the hue."""
    crop, flip, jitter, *others = views.stages
    assert isinstance(crop, RandomResizedCrop)
    assert isinstance(jitter, ColourJitter)
    smaller, stronger = replace(crop, size=crop.size // 2), replace(jitter, hue=2 * jitter.hue)
    return replace(views, stages=(smaller, flip, stronger, *others))


RECIPES = {
    # The search had short trials alone: for long ones it is the authors' of the loss.
    "ricercar": Recipe(ricercar, ALIGNUNIFORM["alignuniform"].training),
    # docs/design/second-search/method.py
    "ricercar-small": Recipe(
        ricercar_small,
        Training(optimiser="adamw", lr=0.01, batch=128, weight_decay=0.05, epochs=2),
    ),
}
