"""Supervised contrastive learning (Khosla et al. 2020): images of one label are positives."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, resnet_for
from counterpoint.parts.extraction import ByLabel
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="SupCon",
    authors="Khosla et al.",
    year=2020,
    arxiv="2004.11362",
    after="simclr",
    idea="The label is the identity, so that all images of one label are positives.",
)

SMALL = NarrowResNet()


def supcon(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose supervised contrastive learning: SimCLR with labels as identities.

    It needs labels. The head is two layers without batch norm, as wide as the encoder
    (networks/resnet_big.py).

    >>> supcon().needs_labels
    True
    """
    encoder = encoder or resnet_for("resnet50", size)
    return Method(
        views=pipelines.moco_views(size),  # main_supcon.py has the same stages
        encoder=Headed(of=encoder, out=128, hidden="width"),
        extraction=ByLabel(),
        similarity=Cosine(tau=0.1),  # README: --temp 0.1
        loss=NCE(denominator="all"),
    )


def supcon_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose supervised contrastive learning for minutes on two cores.

    >>> supcon_small().encoder.hidden
    512
    """
    return supcon(encoder, size=size).swap(
        views=pipelines.moco_views(size * 5 // 8, evaluation=size),
        encoder=Headed(of=encoder, out=128, hidden=512, norm=True),
    )


RECIPES = {
    # HobbitLong/SupContrast, README and main_supcon.py: SGD 0.5 at 1,024 images, cosine, 1e-4 on
    # all weights, 10 epochs of 1,000 warm-up. Its loss is multiplied by tau / 0.07 (losses.py).
    "supcon": Recipe(
        supcon,
        Training(
            optimiser="sgd",
            decay_norms=True,
            lr=0.5 * 256 / 1024,
            batch=1024,
            gradient_scale=0.1 / 0.07,
            weight_decay=1e-4,
            epochs=1000,
            warmup=0.01,
        ),
    ),
    "supcon-small": Recipe(
        supcon_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
