"""CMC (Tian et al. 2019): lightness against colour, with a bank over the data set."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.training import Training
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, PerView, ResNet
from counterpoint.parts.extraction import Bank
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines

CIFAR10 = 45_000  # samples of the paper's training split
DEFAULT = (ResNet("resnet50"), ResNet("resnet50"))
HALVES = (NarrowResNet(widths=(48, 96, 192)), NarrowResNet(widths=(48, 96, 192)))


def cmc(
    encoders: tuple[Encoder, Encoder] = DEFAULT, *, size: int = 32, samples: int = CIFAR10
) -> Method:
    """Compose CMC: L and ab of one crop, a network for each, a bank of the other's vectors.

    >>> print(cmc(samples=1000).extraction)
    Bank(samples=1000, negatives=16384, momentum=0.5, start='random', map=-1)
    """
    return Method(
        views=pipelines.cmc(size),
        encoder=PerView(of=tuple(Headed(of=encoder, out=128) for encoder in encoders)),
        extraction=Bank(samples=samples),
        similarity=Cosine(tau=0.07),  # HobbitLong/CMC, train_CMC.py, --nce_t
        loss=NCE(),  # --softmax: better than its NCE with a constant Z (README)
    )


def cmc_small(
    encoders: tuple[Encoder, Encoder] = HALVES, *, size: int = 32, samples: int = CIFAR10
) -> Method:
    """Compose CMC for minutes on two cores: two narrow networks and fewer negatives."""
    return cmc(encoders, size=size, samples=samples).swap(
        views=pipelines.cmc(size * 5 // 8, smallest=0.2, evaluation=size),
        extraction=Bank(samples=samples, negatives=4096, start="seen"),
    )


RECIPES = {
    # HobbitLong/CMC, train_CMC.py: SGD 0.03 at 128 images, a tenth at 120, 160, 200 of 240.
    "cmc": Recipe(
        cmc,
        Training(
            optimiser="sgd",
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
        Training(optimiser="adam", lr=2e-3, batch=256, weight_decay=0.05, epochs=6),
    ),
}
