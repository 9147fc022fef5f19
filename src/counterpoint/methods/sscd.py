"""SSCD (Pizzi et al. 2022): vectors that tell copies of an image from other images."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import NarrowResNet, resnet_for
from counterpoint.parts.extraction import Pooled
from counterpoint.parts.losses import NCE, NearestEntropy
from counterpoint.parts.similarity import ProjectedCosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="SSCD",
    authors="Pizzi et al.",
    year=2022,
    arxiv="2202.10261",
    after="simclr",
    idea=(
        "The nearest other image is pushed away, so that one threshold of the distance finds "
        "copies in any region."
    ),
)

SMALL = NarrowResNet()


def sscd(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose SSCD: SimCLR with GeM pooling, one linear map, a strong blur and an entropy.

    A ResNet-50 whose blocks start as their shortcuts, on which a weight of 30 relies
    (sscd-copy-detection, docs/Training.md).

    >>> print(sscd().loss)
    NCE(numerator='each', denominator='own', average='anchors') + 30 nearest-neighbour entropy
    """
    return Method(
        # transforms/settings.py, STRONG_BLUR
        views=pipelines.simclr_views(size, sigma=(1.0, 5.0)),
        encoder=encoder or resnet_for("resnet50", size, zero_init=True),
        extraction=Pooled(pool="gem"),
        similarity=ProjectedCosine(hidden=(), out=512, tau=0.05),  # models/model.py, train.py
        loss=NearestEntropy(of=NCE(), weight=30.0),
    )


def sscd_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose SSCD for minutes on two cores.

    The authors advise a smaller weight for another encoder or batch (docs/Training.md: 10).

    >>> sscd_small().loss.weight
    10.0
    """
    return sscd(encoder, size=size).swap(
        views=pipelines.simclr_views(size * 5 // 8, smallest=0.25, evaluation=size),
        similarity=ProjectedCosine(hidden=(), out=128, tau=0.05),
        loss=NearestEntropy(of=NCE(), weight=10.0),
    )


RECIPES = {
    # sscd-copy-detection, sscd/train.py: LARS 0.3 per 256 images, batch 4,096, 1e-6 on all
    # parameters, 100 epochs, 5 of them warm-up.
    "sscd": Recipe(
        sscd,
        Training(
            optimiser="lars",
            lr=0.3,
            batch=4096,
            weight_decay=1e-6,
            decay_norms=True,
            epochs=100,
            warmup=0.05,
        ),
    ),
    "sscd-small": Recipe(
        sscd_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
