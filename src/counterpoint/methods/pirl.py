"""PIRL (Misra and van der Maaten 2019): an image and its shuffled patches have one entry."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import NarrowResNet, ViewHeads, resnet_for
from counterpoint.parts.extraction import Bank, Compare
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="PIRL",
    authors="Misra and van der Maaten",
    year=2019,
    arxiv="1912.01991",
    after="instdisc",
    idea="A pretext task becomes a view: an image and its jigsaw puzzle have the same vector.",
)

CIFAR10 = 45_000  # samples of the paper's training split
SMALL = NarrowResNet()


def pirl(encoder: Encoder | None = None, *, size: int = 32, samples: int = CIFAR10) -> Method:
    """Compose PIRL: a crop and shuffled patches, a head for each, one bank for both.

    >>> print(pirl(samples=1000).views.pipelines[1].stages[-1])
    jigsaw of 3 x 3 patches 9
    """
    return Method(
        views=pipelines.pirl_views(size),
        encoder=ViewHeads(of=encoder or resnet_for("resnet50", size), out=128),
        extraction=Bank(samples=samples, negatives=32_000, remembers="first"),
        similarity=Cosine(tau=0.07),  # pirl_jigsaw_4node_resnet50.yaml, as all numbers here
        loss=NCE(),
    )


def pirl_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose PIRL for minutes on two cores: smaller views, and the batch for the bank.

    In the first epochs of a run a bank teaches how old its entries are, as in CMC: after three
    epochs with one, kNN was below that of random weights (docs/methods/pirl.md).

    >>> print(pirl_small().extraction)
    (-1:-1), one place
    """
    return pirl(encoder, size=size).swap(
        views=pipelines.pirl_views(size * 5 // 8, patch=size // 4, smallest=0.25, evaluation=size),
        extraction=Compare.parse("(-1:-1)"),
        similarity=Cosine(tau=0.1),
    )


RECIPES = {
    # pirl_jigsaw_4node_resnet50.yaml: SGD 0.03 at 256 images, 32 GPUs of 32, 800 epochs.
    "pirl": Recipe(
        pirl,
        Training(
            optimiser="sgd",
            lr=0.03,
            gradient_scale=0.5,  # loss_weights: half of each comparison
            batch=1024,
            weight_decay=1e-4,
            epochs=800,
            warmup=0,
        ),
    ),
    "pirl-small": Recipe(
        pirl_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
