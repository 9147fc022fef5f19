"""ReSSL (Zheng et al. 2021): relations to a queue, taught by a weak view of the same image."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, QueryKeyEncoder, resnet_for
from counterpoint.parts.extraction import Keys, Queue
from counterpoint.parts.losses import RelationalCrossEntropy
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="ReSSL",
    authors="Zheng et al.",
    year=2021,
    arxiv="2107.09282",
    after="moco",
    idea="Other images are not all equally wrong: how a weak view relates to them is the target.",
)

SMALL = NarrowResNet()


def ressl(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose ReSSL: a strong view must be as similar to a queue of keys as a weak one is.

    Its encoder is a ResNet-50 with a head of 4,096 hidden units (network/head.py).

    >>> print(ressl().loss)
    RelationalCrossEntropy(target_tau=0.04)
    """
    return Method(
        views=pipelines.ressl_views(size),
        encoder=QueryKeyEncoder(
            of=Headed(of=encoder or resnet_for("resnet50", size), out=512, hidden=4096)
        ),
        extraction=Queue(of=Keys(), size=131_072),  # network/ressl.py, K=65536*2
        similarity=Cosine(tau=0.1),  # ressl.py, the softmax of logitsq
        loss=RelationalCrossEntropy(),
    )


def ressl_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose ReSSL for minutes on two cores: a shorter queue and a quicker twin.

    >>> print(ressl_small().extraction)
    Keys(map=-1, pool='mean'), queue of 4,096
    """
    return ressl(encoder, size=size).swap(
        views=pipelines.ressl_views(size * 5 // 8, evaluation=size),
        encoder=QueryKeyEncoder(of=Headed(of=encoder, out=128, hidden=512), decay=0.99, groups=1),
        extraction=Queue(of=Keys(), size=4096),
    )


RECIPES = {
    # ressl.py: SGD 0.05 at 8 x 32 images, 1e-4 but not for norms and biases, 200 epochs, 5 of
    # them warm-up.
    "ressl": Recipe(
        ressl,
        Training(
            optimiser="sgd", lr=0.05, batch=256, weight_decay=1e-4, epochs=200, warmup=5 / 200
        ),
    ),
    "ressl-small": Recipe(
        ressl_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
