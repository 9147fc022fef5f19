"""CPC v2 (Henaff et al. 2019): section 2.2 of the paper."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import CPC_RESNET101, CPC_SMALL
from counterpoint.parts.extraction import Context
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Dot
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="CPC v2",
    authors="Henaff et al.",
    year=2019,
    arxiv="1905.09272",
    idea="An image is a grid of patches, and the patches above predict those below.",
)

ROWS = (1, 2, 3, 4, 5, 6)  # below the first of seven


def cpc(encoder: Encoder = CPC_RESNET101, *, size: int = 32) -> Method:
    """Compose CPC as Henaff's appendix lists it: 7 x 7 patches, a context above, three rows ahead.

    >>> print(cpc().extraction)
    Context(offsets=(3,), target=64, hidden=256, blocks=5, scale=0.1, relu='end')
    """
    return Method(
        views=pipelines.cpc_views(size),
        encoder=encoder,
        extraction=Context(offsets=(3,), relu="end"),
        similarity=Dot(),
        loss=NCE(),
    )


def cpc_paper(encoder: Encoder = CPC_RESNET101, *, size: int = 32) -> Method:
    """Compose CPC as the paper prints it: equation 3, for every row below."""
    return cpc(encoder, size=size).swap(extraction=Context(offsets=ROWS, relu="end"))


def cpc_small(encoder: Encoder = CPC_SMALL, *, size: int = 32) -> Method:
    """Compose CPC for minutes on two cores: small networks, and 4 x 4 patches side by side.

    A third of the pixels and a ninth of the scores of 7 x 7; without an overlap the next row is
    worth predicting.

    >>> cpc_small().extraction.offsets
    (1, 2, 3)
    """
    return cpc(encoder, size=size).swap(
        views=pipelines.cpc_views(size, overlap=0),
        extraction=Context(offsets=(1, 2, 3), hidden=64, blocks=3),
    )


# pytorch-lightning-bolts' documents, CIFAR-10: Adam 4e-5 at 64 images, no schedule.
REFERENCE = Training(
    optimiser="adam",
    betas=(0.8, 0.999),
    batch=64,
    lr=4e-5 * 256 / 64,
    weight_decay=1e-5,
    decay_norms=True,
    eps=1e-7,  # cpc_module.py
    epochs=1000,
    warmup=0,
    schedule="steps",
)

RECIPES = {
    "cpc": Recipe(cpc, REFERENCE),
    "cpc-paper": Recipe(cpc_paper, REFERENCE),
    "cpc-small": Recipe(
        cpc_small,
        Training(
            optimiser="adamw",
            betas=(0.8, 0.999),
            lr=2e-3,
            batch=128,
            weight_decay=1e-5,
            epochs=10,
        ),
    ),
}
