"""SimSiam (Chen and He 2021): predict the other view, without negatives and without a twin."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, NarrowResNet, resnet_for
from counterpoint.parts.extraction import Compare, Pooled, StopGradient
from counterpoint.parts.losses import Regression
from counterpoint.parts.similarity import PredictedCosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="SimSiam",
    authors="Chen and He",
    year=2020,
    arxiv="2011.10566",
    after="byol",
    idea="A stopped gradient does what the slow twin did: the target comes from the same weights.",
)

SMALL = NarrowResNet()


def simsiam(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose SimSiam: two views, one encoder, a predictor, a target without gradient.

    The projector has three layers of 2,048 with batch norm behind each, the last without weights;
    the predictor is narrow in the middle (simsiam/builder.py).

    >>> print(simsiam().extraction)
    (-1:-1), one place, candidates without gradient
    """
    encoder = encoder or resnet_for("resnet50", size, zero_init=True)
    return Method(
        views=pipelines.moco_views(size),  # README: MoCo v2's
        encoder=Headed(of=encoder, out=2048, hidden=(2048, 2048), norm=True, last_norm="plain"),
        extraction=StopGradient(of=Compare.parse("(-1:-1)")),
        similarity=PredictedCosine(hidden=512),
        loss=Regression(),
    )


def simsiam_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose SimSiam for minutes on two cores: smaller heads, one comparison for both views.

    >>> simsiam_small().similarity.hidden
    128
    """
    head = Headed(of=encoder, out=512, hidden=(512, 512), norm=True, last_norm="plain")
    return simsiam(encoder, size=size).swap(
        views=pipelines.moco_views(size * 5 // 8, evaluation=size),
        encoder=head,
        extraction=StopGradient(of=Pooled()),
        similarity=PredictedCosine(hidden=128),
    )


RECIPES = {
    # main_simsiam.py: SGD 0.05 per 256 images, all weights decayed, 100 epochs, cosine, no warm-up.
    # Its loss is -cos; ours is 2 - 2 cos, whose gradient is twice as large.
    "simsiam": Recipe(
        simsiam,
        Training(
            optimiser="sgd",
            decay_norms=True,
            lr=0.05,
            batch=512,
            gradient_scale=0.5,
            weight_decay=1e-4,
            epochs=100,
            warmup=0,
        ),
    ),
    "simsiam-small": Recipe(
        simsiam_small,
        Training(optimiser="adamw", lr=2e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
