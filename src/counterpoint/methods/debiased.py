"""Debiased contrastive learning (Chuang et al. 2020): some negatives are of the same class."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.methods.simclr import simclr, simclr_small
from counterpoint.parts.encoders import NarrowResNet, resnet_for
from counterpoint.parts.losses import HardNegatives
from counterpoint.parts.similarity import ProjectedCosine

ORIGIN = Origin(
    title="Debiased",
    authors="Chuang et al.",
    year=2020,
    arxiv="2007.00224",
    after="simclr",
    idea=(
        "Some negatives are of the anchor's own class: their expected share is subtracted "
        "from the denominator."
    ),
)

SMALL = NarrowResNet()


def debiased(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose debiased contrastive learning: SimCLR with corrected negatives.

    A ResNet-50 with a head of 512 and 128 (chingyaoc/DCL, model.py).

    >>> print(debiased().loss)
    HardNegatives(beta=0.0, prior=0.1)
    """
    return simclr(encoder or resnet_for("resnet50", size), size=size).swap(
        similarity=ProjectedCosine(hidden=512, tau=0.5),  # main.py, --temperature
        loss=HardNegatives(beta=0.0, prior=0.1),
    )


def debiased_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose it for minutes on two cores; tau stays that of the authors.

    >>> debiased_small().similarity.tau
    0.5
    """
    return simclr_small(encoder, size=size).swap(
        similarity=ProjectedCosine(hidden=512, tau=0.5),
        loss=HardNegatives(beta=0.0, prior=0.1),
    )


# chingyaoc/DCL, main.py: Adam 1e-3, 1e-6 on all parameters, a constant rate, 500 epochs of 256.
REFERENCE = Training(
    optimiser="adam",
    lr=1e-3,
    batch=256,
    weight_decay=1e-6,
    decay_norms=True,
    epochs=500,
    warmup=0,
    schedule="steps",
)

FEW = Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2)

RECIPES = {"debiased": Recipe(debiased, REFERENCE), "debiased-small": Recipe(debiased_small, FEW)}
