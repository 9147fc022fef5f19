"""Alignment and uniformity (Wang and Isola 2020): the two properties as the loss itself."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.methods.simclr import simclr, simclr_small
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.parts.losses import AlignmentUniformity
from counterpoint.parts.similarity import ProjectedCosine

ORIGIN = Origin(
    title="Alignment and uniformity",
    authors="Wang and Isola",
    year=2020,
    arxiv="2005.10242",
    after="simclr",
    idea=(
        "The loss is what a contrastive loss strives for: positives are near, and vectors are "
        "spread over the sphere."
    ),
)

SMALL = NarrowResNet()


def alignuniform(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose SimCLR with alignment and uniformity in the place of NT-Xent.

    >>> print(alignuniform().loss)
    AlignmentUniformity(alpha=2.0, t=2.0, alignment=1.0, uniformity=1.0)
    """
    return simclr(encoder, size=size).swap(
        similarity=ProjectedCosine(tau=1.0), loss=AlignmentUniformity()
    )


def alignuniform_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose it for minutes on two cores.

    >>> alignuniform_small().similarity.tau
    1.0
    """
    return simclr_small(encoder, size=size).swap(
        similarity=ProjectedCosine(hidden=512, tau=1.0), loss=AlignmentUniformity()
    )


RECIPES = {
    # align_uniform, examples/stl10/main.py: SGD 0.12 per 256 images, batch 768, 1e-4 on all
    # parameters, 200 epochs with drops by 10 at 155, 170 and 185.
    "alignuniform": Recipe(
        alignuniform,
        Training(
            optimiser="sgd",
            lr=0.12,
            batch=768,
            weight_decay=1e-4,
            decay_norms=True,
            epochs=200,
            warmup=0,
            schedule="steps",
            drops=(0.775, 0.85, 0.925),
        ),
    ),
    "alignuniform-small": Recipe(
        alignuniform_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
