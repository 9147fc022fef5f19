"""The spectral contrastive loss (HaoChen et al. 2021)."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, resnet_for
from counterpoint.parts.extraction import Compare, Pooled
from counterpoint.parts.losses import Spectral
from counterpoint.parts.similarity import BallDot
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="Spectral",
    authors="HaoChen et al.",
    year=2021,
    arxiv="2106.04156",
    after="simclr",
    idea=(
        "Scores of negatives are squared instead of exponentiated: the minimum is a spectral "
        "decomposition of the graph of views."
    ),
)

SMALL = NarrowResNet()


def spectral(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose the spectral method: vectors of a head, inside a ball, compared between views.

    The head has 2,048 and 1,000 with a norm behind each (spectral_contrastive_learning,
    models/backbones/cifar_resnet_1_mlp_norelu.py). Negatives are of the other view only.

    >>> print(spectral().extraction, spectral().similarity)
    (-1:-1), one place BallDot(mu=1.0)
    """
    encoder = encoder or resnet_for("resnet18" if size <= 32 else "resnet50", size)
    return Method(
        views=pipelines.moco_views(size),  # augmentations/simsiam_aug.py has the same numbers
        encoder=Headed(of=encoder, out=1000, hidden=2048, norm=True, last_norm="affine"),
        extraction=Compare.parse("(-1:-1)"),
        similarity=BallDot(mu=1.0),
        loss=Spectral(),
    )


def spectral_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose it for minutes on two cores: a smaller head, and negatives of both views.

    >>> print(spectral_small().extraction)
    Pooled(map=-1, pool='mean')
    """
    return spectral(encoder, size=size).swap(
        views=pipelines.moco_views(size * 5 // 8, evaluation=size),
        encoder=Headed(of=encoder, out=256, hidden=512, norm=True, last_norm="affine"),
        extraction=Pooled(),
    )


RECIPES = {
    # spectral_contrastive_learning, configs/..._cifar10_lr003_mu1.yaml and pretrain.py: SGD 0.03
    # per 256 images, 5e-4 on all parameters, 10 epochs of warm-up.
    "spectral": Recipe(
        spectral,
        Training(
            optimiser="sgd",
            lr=0.03,
            batch=512,
            weight_decay=5e-4,
            decay_norms=True,
            epochs=800,
            warmup=0.0125,
        ),
    ),
    "spectral-small": Recipe(
        spectral_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
