"""NNCLR (Dwibedi et al. 2021): the nearest vector of other images is the row of the softmax."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, resnet_for
from counterpoint.parts.extraction import Compare, NearestAnchors
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import PredictedCosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="NNCLR",
    authors="Dwibedi et al.",
    year=2021,
    arxiv="2104.14548",
    after="simclr",
    idea="The positive is not the image itself but its nearest neighbour among earlier ones.",
)

SMALL = NarrowResNet()


def nnclr(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose NNCLR: two views, each replaced by its neighbour and compared with the other.

    The neighbour comes from a support set of earlier vectors; the other view, of all images, goes
    through the predictor (section 3.2, algorithm 1).

    >>> print(nnclr().extraction)
    (-1:-1), one place, anchors by their nearest of 98,304
    """
    projector = Headed(
        of=encoder or resnet_for("resnet50", size),
        out=256,
        hidden=(2048, 2048),
        norm=True,
        last_norm="affine",
    )  # section 4.1: [2048, 2048, d], batch norm behind each
    return Method(
        views=pipelines.simclr_views(size),
        encoder=projector,
        extraction=NearestAnchors(of=Compare.parse("(-1:-1)"), size=98_304),
        similarity=PredictedCosine(hidden=4096, tau=0.1, side="candidate"),
        loss=NCE(),
    )


def nnclr_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose NNCLR for minutes on two cores: smaller heads and a shorter support set.

    >>> nnclr_small().extraction.size
    4096
    """
    projector = Headed(of=encoder, out=128, hidden=512, norm=True, last_norm="affine")
    return nnclr(encoder, size=size).swap(
        views=pipelines.simclr_views(size * 5 // 8, smallest=0.25, evaluation=size),
        encoder=projector,
        extraction=NearestAnchors(of=Compare.parse("(-1:-1)"), size=4096),
        similarity=PredictedCosine(hidden=512, tau=0.2, side="candidate"),
    )


RECIPES = {
    # Section 4.1: LARS 0.3 per 256 images, 1e-6, 1,000 epochs, 10 of them warm-up. There is no
    # authors' code; the figures are those of the paper as it is quoted by others.
    "nnclr": Recipe(
        nnclr,
        Training(optimiser="lars", lr=0.3, batch=4096, weight_decay=1e-6, epochs=1000, warmup=0.01),
    ),
    "nnclr-small": Recipe(
        nnclr_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
