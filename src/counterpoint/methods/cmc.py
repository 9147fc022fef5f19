"""CMC (Tian et al. 2019): lightness against colour, with a bank over the data set."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, PerView, ThinResNet, stem_for
from counterpoint.parts.extraction import Bank, Compare
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="CMC",
    authors="Tian et al.",
    year=2019,
    arxiv="1906.05849",
    after="instdisc",
    idea="The two views are channels of one image, each with its own encoder.",
)

CIFAR10 = 45_000  # samples of the paper's training split
HALF = NarrowResNet(widths=(48, 96, 192))  # of which there are two


def half(size: int) -> ThinResNet:
    """Return a ResNet-50 of half the width with a whole stem (models/resnet.py, resnet50v1)."""
    return ThinResNet(
        name="resnet50", width=32, stem=stem_for(size), stem_width=64, zero_init=False
    )


def cmc(encoder: Encoder | None = None, *, size: int = 32, samples: int = CIFAR10) -> Method:
    """Compose CMC: L and ab of one crop, a network for each, a bank of the other's vectors.

    >>> print(cmc(samples=1000).extraction)
    Bank(samples=1000, negatives=16384, momentum=0.5, start='random', map=-1, remembers='each')
    """
    one = Headed(of=encoder or half(size), out=128)
    return Method(
        views=pipelines.cmc_views(size),
        encoder=PerView(of=(one, one)),
        extraction=Bank(samples=samples),
        similarity=Cosine(tau=0.07),  # HobbitLong/CMC, train_CMC.py, --nce_t
        loss=NCE(),  # --softmax: better than its NCE with a constant Z (README)
    )


def cmc_small(encoder: Encoder = HALF, *, size: int = 32) -> Method:
    """Compose CMC for minutes on two cores: two narrow networks, and the batch for the bank.

    What a bank remembers is an epoch old. In the first epochs of a run the age of an entry tells
    more than its content, and that is what the networks learn (docs/results.md).

    >>> print(cmc_small().extraction)
    (-1:-1), one place
    """
    return cmc(encoder, size=size).swap(
        views=pipelines.cmc_views(size * 5 // 8, smallest=0.2, evaluation=size),
        extraction=Compare.parse("(-1:-1)"),
        similarity=Cosine(tau=0.1),
    )


RECIPES = {
    # HobbitLong/CMC, train_CMC.py: SGD 0.03 at 128 images, a tenth at 120, 160, 200 of 240.
    "cmc": Recipe(
        cmc,
        Training(
            optimiser="sgd",
            decay_norms=True,
            lr=0.03 * 256 / 128,
            batch=128,
            weight_decay=1e-4,
            epochs=240,
            warmup=0,
            schedule="steps",
            drops=(120 / 240, 160 / 240, 200 / 240),
        ),
    ),
    "cmc-small": Recipe(
        cmc_small,
        Training(optimiser="adamw", lr=2e-3, batch=256, weight_decay=0.05, epochs=6),
    ),
}
