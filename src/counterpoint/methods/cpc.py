"""CPC v2 (Henaff et al. 2019): section 2.2 of the paper."""

from dataclasses import replace

from counterpoint.framework import Encoder, Method
from counterpoint.framework.training import Training
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import CPC_RESNET101, CPC_SMALL
from counterpoint.parts.extraction import Context
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Dot
from counterpoint.parts.views import pipelines


def cpc(encoder: Encoder = CPC_RESNET101, *, size: int = 32) -> Method:
    """Compose CPC: one view as 7 x 7 patches, a context above, a predictor for each offset, NCE.

    >>> print(cpc().extraction)
    Context(offsets=(), target=64, hidden=256, blocks=5, scale=0.1)
    """
    return Method(
        views=pipelines.cpc(size),
        encoder=encoder,
        extraction=Context(),
        similarity=Dot(),
        loss=NCE(),
    )


def cpc_reference(encoder: Encoder = CPC_RESNET101, *, size: int = 32) -> Method:
    """Compose CPC as Henaff's appendix lists it: three rows ahead only."""
    return cpc(encoder, size=size).swap(extraction=Context(offsets=(3,)))


def cpc_small(encoder: Encoder = CPC_SMALL, *, size: int = 32) -> Method:
    """Compose CPC for minutes on two cores: small networks, and 4 x 4 patches side by side.

    A third of the pixels and a ninth of the scores of 7 x 7; without an overlap the next row is
    worth predicting.
    """
    return cpc(encoder, size=size).swap(
        views=pipelines.cpc(size, overlap=0),
        extraction=Context(offsets=(1, 2, 3), hidden=64, blocks=3),
    )


# pytorch-lightning-bolts' documents, CIFAR-10: Adam 4e-5 at 64 images, no schedule.
REFERENCE = Training(
    optimiser="adam",
    betas=(0.8, 0.999),
    batch=64,
    lr=4e-5 * 256 / 64,
    weight_decay=1e-5,
    epochs=1000,
    warmup=0,
    schedule="steps",
)

RECIPES = {
    "cpc": Recipe(cpc_reference, REFERENCE),
    "cpc-paper": Recipe(cpc, REFERENCE),
    "cpc-small": Recipe(
        cpc_small, replace(REFERENCE, batch=128, lr=2e-3, epochs=10, warmup=0.1, schedule="cosine")
    ),
}
