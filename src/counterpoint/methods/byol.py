"""BYOL (Grill et al. 2020): predict the twin's view, without negatives."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import Headed, MomentumEncoder, NarrowResNet, resnet_for
from counterpoint.parts.extraction import Compare, Pooled
from counterpoint.parts.losses import Regression
from counterpoint.parts.similarity import PredictedCosine
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="BYOL",
    authors="Grill et al.",
    year=2020,
    arxiv="2006.07733",
    after="moco",
    idea="A predictor and a slow twin make negatives unnecessary.",
)

SMALL = NarrowResNet()


def byol(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose BYOL: two recipes of views, a slow twin, a predictor, squared distance.

    The networks and the predictor see one view after the other (byol_experiment.py), so that no
    batch norm mixes the two recipes: the extraction compares in each direction by itself.

    >>> print(byol().similarity)
    PredictedCosine(hidden=4096, tau=1.0, side='anchor')
    """
    encoder = encoder or resnet_for("resnet50", size)
    projector = Headed(of=encoder, out=256, hidden=4096, norm=True)  # section 3.2
    return Method(
        views=pipelines.byol_views(size),
        encoder=MomentumEncoder(
            of=projector, decay=0.996, rises=True, views_apart=True
        ),  # section 3.2
        extraction=Compare.parse("(-1:-1)"),
        similarity=PredictedCosine(hidden=4096),
        loss=Regression(),
    )


def byol_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose BYOL for minutes on two cores: smaller heads, a quicker twin, views together.

    >>> byol_small().encoder.decay
    0.97
    """
    projector = Headed(of=encoder, out=128, hidden=512, norm=True)
    return byol(encoder, size=size).swap(
        views=pipelines.byol_views(size * 5 // 8, smallest=0.25, evaluation=size),
        encoder=MomentumEncoder(of=projector, decay=0.97, rises=True),
        extraction=Pooled(),
        similarity=PredictedCosine(hidden=512),
    )


RECIPES = {
    # deepmind-research, byol/configs/byol.py, 1,000 epochs: LARS 0.2 per 256, 1.5e-6, 10 epochs of
    # warm-up; its loss is the sum of both views' (byol_experiment.py).
    "byol": Recipe(
        byol,
        Training(
            optimiser="lars",
            lr=0.2,
            batch=4096,
            gradient_scale=2.0,
            weight_decay=1.5e-6,
            epochs=1000,
            warmup=0.01,
        ),
    ),
    "byol-small": Recipe(
        byol_small,
        Training(optimiser="adamw", lr=2e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
