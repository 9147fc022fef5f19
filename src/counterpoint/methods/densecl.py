"""DenseCL (Wang et al. 2020): MoCo v2 for whole images and for places that match."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, QueryKeyEncoder, resnet_for
from counterpoint.parts.extraction import Keys, Matched, Queue, Together
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="DenseCL",
    authors="Wang et al.",
    year=2020,
    arxiv="2011.09157",
    after="moco",
    idea="Places are compared too: the positive of a place is the one that matches it best.",
)

SMALL = NarrowResNet()


def densecl(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose DenseCL: MoCo v2, and the same for every place with a head and a queue of its own.

    >>> print(densecl().extraction.of[1])
    places of map -2, matched by map -3, queue of 65,536
    """
    dense = Headed(of=encoder or resnet_for("resnet50", size), out=128, hidden="width", places=True)
    return Method(
        views=pipelines.moco_views(size),
        encoder=QueryKeyEncoder(of=Headed(of=dense, out=128, hidden="width", map=-2)),
        extraction=whole_and_places(65_536),
        similarity=Cosine(tau=0.2),  # densecl_imagenet_200ep.py, as all numbers here
        loss=NCE(),
    )


def densecl_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose DenseCL for minutes on two cores: shorter queues and a quicker twin.

    >>> print(densecl_small().extraction.of[0])
    Keys(map=-1, pool='mean'), queue of 4,096
    """
    dense = Headed(of=encoder, out=128, hidden=512, places=True)
    pair = Headed(of=dense, out=128, hidden=512, map=-2)
    return densecl(encoder, size=size).swap(
        views=pipelines.moco_views(size * 5 // 8, evaluation=size),
        encoder=QueryKeyEncoder(of=pair, decay=0.99, groups=1),
        extraction=whole_and_places(4096),
    )


def whole_and_places(size: int) -> Together:
    """Compare whole images and matched places, half each, with a queue for either.

    >>> whole_and_places(64).shares
    (0.5, 0.5)
    """
    whole, places = Queue(of=Keys(), size=size), Queue(of=Matched(map=-2, by=-3), size=size)
    return Together(of=(whole, places), shares=(0.5, 0.5))


RECIPES = {
    # densecl_imagenet_200ep.py: SGD 0.03 at 8 x 32 images, 1e-4, 200 epochs, no warm-up.
    "densecl": Recipe(
        densecl,
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
    "densecl-small": Recipe(
        densecl_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
