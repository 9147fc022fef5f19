"""MoCo v3 (Chen, Xie and He 2021): queries against the batch of a twin's keys, no queue."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, MomentumEncoder, NarrowResNet, resnet_for
from counterpoint.parts.extraction import Compare
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import PredictedCosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="MoCo v3",
    authors="Chen, Xie and He",
    year=2021,
    arxiv="2104.02057",
    after="moco",
    idea="With a large batch and a predictor no queue is needed: the keys of the batch are enough.",
)

SMALL = NarrowResNet()


def mocov3(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose MoCo v3: BYOL's views, twin and predictor, with a softmax over the batch.

    Each view's queries are compared with the keys of the other view, direction by direction, and
    all networks see one view after the other (moco/builder.py).

    >>> print(mocov3().similarity)
    PredictedCosine(hidden=4096, tau=1.0, side='anchor')
    """
    projector = Headed(
        of=encoder or resnet_for("resnet50", size),
        out=256,  # main_moco.py, --moco-dim
        hidden=4096,  # --moco-mlp-dim
        norm=True,
        last_norm="plain",
    )
    return Method(
        views=pipelines.byol_views(size, smallest=0.2),  # CONFIG.md: --crop-min=.2
        encoder=MomentumEncoder(
            of=projector, decay=0.99, rises=True, views_apart=True
        ),  # --moco-m, --moco-m-cos
        extraction=Compare.parse("(-1:-1)"),
        similarity=PredictedCosine(hidden=4096, tau=1.0),  # --moco-t
        loss=NCE(),
    )


def mocov3_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose MoCo v3 for minutes on two cores: smaller heads, a quicker twin, tau of its ViTs.

    >>> mocov3_small().similarity.tau
    0.2
    """
    projector = Headed(of=encoder, out=128, hidden=512, norm=True, last_norm="plain")
    return mocov3(encoder, size=size).swap(
        views=pipelines.byol_views(size * 5 // 8, smallest=0.25, evaluation=size),
        encoder=MomentumEncoder(of=projector, decay=0.97, rises=True),
        similarity=PredictedCosine(hidden=512, tau=0.2),  # CONFIG.md, ViT: --moco-t=.2
    )


RECIPES = {
    # CONFIG.md, ResNet-50 for 100 epochs: LARS 0.6 per 256 images, 1e-6, 10 epochs of warm-up. Its
    # loss is 2 tau times the sum of both directions (moco/builder.py), ours their mean.
    "mocov3": Recipe(
        mocov3,
        Training(
            optimiser="lars",
            lr=0.6,
            batch=4096,
            gradient_scale=4.0,
            weight_decay=1e-6,
            epochs=100,
            warmup=0.1,
        ),
    ),
    "mocov3-small": Recipe(
        mocov3_small,
        Training(optimiser="adamw", lr=2e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
