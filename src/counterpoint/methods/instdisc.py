"""Instance discrimination (Wu et al. 2018): every image is a class, its bank entry the weight."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, resnet_for
from counterpoint.parts.extraction import Bank
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="InstDisc",
    authors="Wu et al.",
    year=2018,
    arxiv="1805.01978",
    idea="Every image is a class of its own, and a memory bank has the vector of each.",
)

CIFAR10 = 45_000  # samples of the paper's training split
SMALL = NarrowResNet()


def instdisc(encoder: Encoder | None = None, *, size: int = 32, samples: int = CIFAR10) -> Method:
    """Compose instance discrimination: one view, a linear head, a bank of all images.

    Each image is told from all others, a softmax over the data set (equation 2): --nce-k 0, as in
    the authors' command for CIFAR-10.

    >>> print(instdisc(samples=1000).extraction)
    Bank(samples=1000, negatives='all', momentum=0.5, start='random', map=-1, remembers='each')
    """
    return Method(
        views=pipelines.instdisc_views(size),
        encoder=Headed(of=encoder or resnet_for("resnet18", size), out=128),  # --low-dim
        extraction=Bank(samples=samples, negatives="all", momentum=0.5),  # --nce-m
        similarity=Cosine(tau=0.1),  # README, CIFAR-10: --nce-t 0.1
        loss=NCE(),
    )


def instdisc_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose instance discrimination for minutes on two cores: 4,096 drawn negatives.

    An image that was not seen yet is its own target at first: a random one teaches nothing.

    >>> instdisc_small().extraction.start
    'seen'
    """
    return instdisc(encoder, size=size).swap(
        views=pipelines.instdisc_views(size * 5 // 8, evaluation=size),
        extraction=Bank(samples=CIFAR10, negatives=4096, start="seen"),
    )


RECIPES = {
    # zhirongw/lemniscate.pytorch, cifar.py: SGD 0.03 at 128 images, 5e-4 on all weights, a tenth at
    # epochs 120 and 160 of 200.
    "instdisc": Recipe(
        instdisc,
        Training(
            optimiser="sgd",
            decay_norms=True,
            lr=0.03 * 256 / 128,
            batch=128,
            weight_decay=5e-4,
            epochs=200,
            warmup=0,
            schedule="steps",
            drops=(120 / 200, 160 / 200),
        ),
    ),
    "instdisc-small": Recipe(
        instdisc_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=6),
    ),
}
