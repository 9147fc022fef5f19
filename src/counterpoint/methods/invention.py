"""Invention: CMC's two networks under AMDIM's score, found by `counterpoint design`."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.cmc import HALF, half
from counterpoint.methods.cmc import RECIPES as CMC
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, PerView
from counterpoint.parts.extraction import Compare
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import ScaledDot
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="Invention",
    authors="Counterpoint",
    year=2026,
    after="cmc",
    idea=(
        "A search put AMDIM's scaled dot product on CMC's two networks, with crops of half the "
        "side, wider vectors, the batch in place of the bank, and a higher learning rate."
    ),
)


def invention(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose what the search found with CMC's two encoders.

    The search had images of 32 pixels and narrow encoders (`invention_small`). Nobody has trained
    this one yet.

    >>> print(invention().similarity)
    ScaledDot(clip=20.0)
    """
    one = Headed(of=encoder or half(size), out=256)
    return Method(
        views=pipelines.cmc_views(size // 2, smallest=0.25, evaluation=size),
        encoder=PerView(of=(one, one)),
        extraction=Compare.parse("(-1:-1)"),
        similarity=ScaledDot(),
        loss=NCE(),
    )


def invention_small(encoder: Encoder = HALF, *, size: int = 32) -> Method:
    """Compose it for minutes on two cores: the candidate that the search found.

    It is the first of docs/design/third-search, there with two encoders of two thirds of the width.

    >>> print(invention_small().extraction)
    (-1:-1), one place
    """
    return invention(encoder, size=size)


RECIPES = {
    # The search had short trials alone: for long ones it is that of CMC's authors.
    "invention": Recipe(invention, CMC["cmc"].training),
    # docs/design/third-search/method.py
    "invention-small": Recipe(
        invention_small,
        Training(optimiser="adamw", lr=0.01, batch=128, weight_decay=0.05, epochs=6),
    ),
}
