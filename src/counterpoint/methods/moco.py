"""MoCo v2 (Chen et al. 2020b): a momentum twin and a queue of its keys."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, QueryKeyEncoder, resnet_for
from counterpoint.parts.extraction import Keys, Queue
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="MoCo v2",
    authors="Chen et al.",
    year=2020,
    arxiv="2003.04297",
    after="instdisc",
    idea="A slow twin encodes the keys, and a queue of them replaces the memory bank.",
)

SMALL = NarrowResNet()


def moco(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose MoCo v2: queries against the keys of a slow twin, and a queue of older keys.

    Its encoder is a ResNet-50, its head as wide as the encoder (moco/builder.py).

    >>> print(moco().extraction)
    Keys(map=-1, pool='mean'), queue of 65,536
    """
    return Method(
        views=pipelines.moco_views(size),
        encoder=QueryKeyEncoder(
            of=Headed(of=encoder or resnet_for("resnet50", size), out=128, hidden="width")
        ),
        extraction=Queue(of=Keys(), size=65_536),
        similarity=Cosine(tau=0.2),  # main_moco.py --moco-t 0.2
        loss=NCE(),
    )


def moco_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose MoCo v2 for minutes on two cores: a shorter queue and a quicker twin.

    A decay of 0.99 is a mean over the last hundred steps, 0.999 over the last thousand: longer
    than such a run.

    >>> print(moco_small().extraction)
    Keys(map=-1, pool='mean'), queue of 4,096
    """
    return moco(encoder, size=size).swap(
        views=pipelines.moco_views(size * 5 // 8, evaluation=size),
        encoder=QueryKeyEncoder(of=Headed(of=encoder, out=128, hidden=512), decay=0.99, groups=1),
        extraction=Queue(of=Keys(), size=4096),
    )


RECIPES = {
    # main_moco.py: SGD 0.03 at 256 images, weight decay 1e-4, 200 epochs, --cos, no warm-up.
    "moco": Recipe(
        moco,
        Training(
            optimiser="sgd",
            decay_norms=True,
            lr=0.03,
            batch=256,
            weight_decay=1e-4,
            epochs=200,
            warmup=0,
        ),
    ),
    "moco-small": Recipe(
        moco_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=6),
    ),
}
