"""VICReg (Bardes et al. 2021): outside of the paper's frame, a loss on features."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.barlowtwins import barlowtwins, barlowtwins_small
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.parts.losses import VICReg

ORIGIN = Origin(
    title="VICReg",
    authors="Bardes et al.",
    year=2021,
    arxiv="2105.04906",
    after="barlowtwins",
    idea="Each view by itself keeps the variance of its features and loses their covariance.",
)

SMALL = NarrowResNet()


def vicreg(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose VICReg: Barlow Twins' views, network and head, with its three terms.

    Views, ResNet and head are the same numbers in both authors' code (augmentations.py,
    main_vicreg.py). Part (4) has nothing to do: the loss looks at the vectors themselves.

    >>> print(vicreg().loss)
    VICReg(invariance=25.0, variance=25.0, covariance=1.0)
    """
    return barlowtwins(encoder, size=size).swap(loss=VICReg())


def vicreg_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose VICReg for minutes on two cores: a narrow head, and small, milder crops.

    >>> vicreg_small().encoder.out
    512
    """
    return barlowtwins_small(encoder, size=size).swap(loss=VICReg())


RECIPES = {
    # facebookresearch/vicreg, README, 1,000 epochs: LARS 0.2 per 256 at 2,048 images, 1e-6 and 10
    # epochs of warm-up (main_vicreg.py).
    "vicreg": Recipe(
        vicreg,
        Training(optimiser="lars", lr=0.2, batch=2048, weight_decay=1e-6, epochs=1000, warmup=0.01),
    ),
    "vicreg-small": Recipe(
        vicreg_small,
        Training(optimiser="adamw", lr=2e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
