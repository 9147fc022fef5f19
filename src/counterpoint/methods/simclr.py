"""SimCLR (Chen et al. 2020): section 2.3 of the paper."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import NarrowResNet, resnet_for
from counterpoint.parts.extraction import Pooled
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import ProjectedCosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="SimCLR",
    authors="Chen et al.",
    year=2020,
    arxiv="2002.05709",
    after="instdisc",
    idea=(
        "The other images of a large batch are the negatives, and a projection head is "
        "compared instead of the features."
    ),
)

SMALL = NarrowResNet()


def simclr(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose SimCLR: two views, a ResNet, the pooled last map, a projected cosine, NT-Xent.

    Up to 32 pixels a ResNet-18 (google-research/simclr, README, CIFAR-10), above a ResNet-50 (its
    default), whose blocks start as their shortcuts (resnet.py).

    >>> print(simclr())
    (1) views      2 x (random crop 0.08-1 to 32 -> flip 0.5 -> jitter 0.4/0.4/0.4/0.1 p 0.8 -> grey 0.2 -> normalise)
    (2) encoder    ResNet(name='resnet18', stem='small', zero_init=True)
    (3) extraction Pooled(map=-1, pool='mean')
    (4) similarity ProjectedCosine(hidden=None, out=128, tau=0.5, learn_tau=False, last_norm='none')
    (5) loss       NCE(numerator='each', denominator='own', average='anchors')
    """  # noqa: E501 (the first row is one line)
    return Method(
        views=pipelines.simclr_views(size),
        encoder=encoder
        or resnet_for("resnet18" if size <= 32 else "resnet50", size, zero_init=True),
        extraction=Pooled(),
        similarity=ProjectedCosine(),
        loss=NCE(),
    )


def simclr_paper(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose SimCLR as the paper prints it: equation 4, no positive in the denominator."""
    return simclr(encoder or resnet_for("resnet50", size), size=size).swap(
        loss=NCE(denominator="negatives")
    )


def simclr_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose SimCLR for minutes on two cores: a narrow ResNet on small, milder crops.

    Views of 5/8 of the side cost 0.4 of the whole image. The encoder was chosen by short runs
    on validation images; tau, the head and the smallest crop are a judgement between the
    values tried there, not measured one by one (docs/results.md).

    >>> simclr_small().similarity.tau
    0.2
    """
    return simclr(encoder, size=size).swap(
        views=pipelines.simclr_views(size * 5 // 8, smallest=0.25, evaluation=size),
        similarity=ProjectedCosine(hidden=512, tau=0.2),
    )


# google-research/simclr, README, CIFAR-10: LARS 1.0 per 256 (run.py), 1e-4, 1,000 epochs, 10 of
# them warm-up; its loss is the sum of both views' (objective.py).
REFERENCE = Training(
    optimiser="lars", lr=1.0, batch=512, gradient_scale=2.0, epochs=1000, warmup=0.01
)

RECIPES = {
    "simclr": Recipe(simclr, REFERENCE),
    "simclr-paper": Recipe(simclr_paper, REFERENCE),
    "simclr-small": Recipe(
        simclr_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
