"""Barlow Twins (Zbontar et al. 2021): outside of the paper's frame, a loss on features."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, resnet_for
from counterpoint.parts.extraction import Pooled
from counterpoint.parts.losses import BarlowTwins
from counterpoint.parts.similarity import Dot
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="Barlow Twins",
    authors="Zbontar et al.",
    year=2021,
    arxiv="2103.03230",
    after="byol",
    idea="Features are compared, not images: each correlates with itself alone, between two views.",
)

SMALL = NarrowResNet()


def barlowtwins(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose Barlow Twins: BYOL's views, a ResNet with a wide head, the correlation of features.

    Part (4) has nothing to do: the loss looks at the vectors themselves. Nothing is contrasted.

    >>> print(barlowtwins().loss)
    BarlowTwins(redundancy=0.0051)
    """
    encoder = encoder or resnet_for("resnet50", size, zero_init=True)  # main.py
    return Method(
        views=pipelines.byol_views(size),  # main.py, Transform: the same numbers as BYOL's
        encoder=Headed(of=encoder, hidden=(8192, 8192), out=8192, norm=True),  # --projector
        extraction=Pooled(),
        similarity=Dot(),
        loss=BarlowTwins(),
    )


def barlowtwins_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose Barlow Twins for minutes on two cores: a narrow head, and small, milder crops.

    >>> barlowtwins_small().encoder.out
    512
    """
    return barlowtwins(encoder, size=size).swap(
        views=pipelines.byol_views(size * 5 // 8, smallest=0.25, evaluation=size),
        encoder=Headed(of=encoder, hidden=512, out=512, norm=True),
    )


RECIPES = {
    # facebookresearch/barlowtwins, main.py: LARS 0.2 per 256, 1e-6, 10 epochs of warm-up. Biases
    # and norms have a rate of 0.0048: 0.024 of the gradient is the same for these, and LARS
    # does not notice it on weights if the decay is scaled along.
    "barlowtwins": Recipe(
        barlowtwins,
        Training(
            optimiser="lars",
            lr=0.2,
            batch=2048,
            gradient_scale=0.024,
            weight_decay=2.4e-8,
            epochs=1000,
            warmup=0.01,
        ),
    ),
    "barlowtwins-small": Recipe(
        barlowtwins_small,
        Training(optimiser="adamw", lr=2e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
