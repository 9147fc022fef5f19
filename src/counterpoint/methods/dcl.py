"""DCL (Yeh et al. 2021): SimCLR without the positive in the denominator."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.methods.simclr import simclr, simclr_small
from counterpoint.parts.encoders import NarrowResNet, resnet_for
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import ProjectedCosine

ORIGIN = Origin(
    title="DCL",
    authors="Yeh et al.",
    year=2021,
    arxiv="2110.06848",
    after="simclr",
    idea=(
        "The positive is left out of the denominator, so that an easy positive no longer "
        "weakens the gradient and small batches suffice."
    ),
)

SMALL = NarrowResNet()


def dcl(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose DCL: SimCLR whose denominator has only the negatives.

    Encoder, head and tau are those of raminnakhli/Decoupled-Contrastive-Learning (README,
    experiment/simclr/model.py, run_simclr.sh); we know of no code by the authors.

    >>> print(dcl().loss)
    NCE(numerator='each', denominator='negatives', average='anchors')
    """
    encoder = encoder or resnet_for("resnet18" if size <= 32 else "resnet50", size)
    return simclr(encoder, size=size).swap(
        similarity=ProjectedCosine(hidden=512, tau=0.1), loss=NCE(denominator="negatives")
    )


def dcl_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose DCL for minutes on two cores: all but the loss is simclr-small's.

    >>> dcl_small().similarity.tau
    0.2
    """
    return simclr_small(encoder, size=size).swap(loss=NCE(denominator="negatives"))


# raminnakhli/Decoupled-Contrastive-Learning, experiment/simclr/main.py: Adam 1e-3 of any batch,
# 1e-6 on all parameters, a constant rate; README: 100 epochs, 256 images its largest batch.
REFERENCE = Training(
    optimiser="adam",
    lr=1e-3,
    batch=256,
    weight_decay=1e-6,
    decay_norms=True,
    epochs=100,
    warmup=0,
    schedule="steps",
)

FEW = Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2)

RECIPES = {"dcl": Recipe(dcl, REFERENCE), "dcl-small": Recipe(dcl_small, FEW)}
