"""YADIM: section 3 of the paper, designed by choosing parts."""

from dataclasses import replace

from counterpoint.framework import Encoder, Method
from counterpoint.methods.amdim import FEW, LARGE, SMALL
from counterpoint.methods.amdim import REFERENCE as AMDIM
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.extraction import Compare, Pooled
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine, Dot, ScaledDot
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="YADIM",
    authors="Falcon and Cho",
    year=2020,
    arxiv="2009.00104",
    after="amdim",
    idea="AMDIM's comparison of places on CPC's patches, at the last map alone.",
)


def yadim(encoder: Encoder = LARGE[32], *, size: int = 32) -> Method:
    """Compose YADIM: two views as patches, their vectors as one map, compared at the last level.

    The paper does not say how the vectors of patches become anchors and positives. Here a drawn
    place of one view is the anchor and every place of the other view a positive, as AMDIM has it
    for maps: docs/decisions/0012-reading-yadim.md.

    >>> print(yadim().extraction)
    (-1:-1), one place
    """
    return Method(
        views=pipelines.yadim_views(size),
        encoder=encoder,
        extraction=Compare.parse("(-1:-1)"),
        similarity=Dot(),  # section 3.3: a dot product without any extra parameter
        loss=NCE(),
    )


def yadim_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose YADIM for minutes on two cores: a narrow encoder, and AMDIM's scaled score.

    The paper has a plain dot product (`yadim`), sixteen times as large for 256 numbers: with
    random weights a softmax over 256 candidates then gives 0.62 to one of them, where the scaled
    one gives 0.03. Its 4 x 4 patches lie side by side, as section 4 has them; section 3 lets them
    overlap.

    >>> print(yadim_small().similarity)
    ScaledDot(clip=20.0)
    """
    return yadim(encoder, size=size).swap(
        views=pipelines.yadim_views(size, overlap=0), similarity=ScaledDot(clip=20.0)
    )


def yadim_pooled(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose the other reading: the mean of all patches is the one vector of a view."""
    return yadim_small(encoder, size=size).swap(extraction=Pooled(), similarity=Cosine(tau=0.2))


def yadim_all_places(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose the third reading: every place is an anchor, not only a drawn one."""
    return yadim_small(encoder, size=size).swap(extraction=Compare.parse("(-1:-1)", anchors="all"))


# The paper gives no rate, only a grid around AMDIM's 2e-4, and no schedule.
REFERENCE = replace(AMDIM, schedule="cosine", drops=())

RECIPES = {
    "yadim": Recipe(yadim, REFERENCE),
    "yadim-small": Recipe(yadim_small, FEW),
    "yadim-pooled": Recipe(yadim_pooled, FEW),
    "yadim-all-places": Recipe(yadim_all_places, FEW),
}
