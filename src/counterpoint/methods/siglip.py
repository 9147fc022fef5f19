"""The sigmoid loss of SigLIP (Zhai et al. 2023) between two views of images."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.methods.simclr import REFERENCE, simclr, simclr_small
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.parts.losses import Sigmoid
from counterpoint.parts.similarity import Biased, ProjectedCosine

ORIGIN = Origin(
    title="SigLIP",
    authors="Zhai et al.",
    year=2023,
    arxiv="2303.15343",
    after="simclr",
    idea="Every pair is a yes-or-no decision of its own, without a softmax over the batch.",
)

SMALL = NarrowResNet()


def siglip(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose SimCLR with the sigmoid loss, a learned temperature and a learned bias.

    Zhai et al. compare images with texts. Here the other view takes the place of the text.

    >>> print(siglip().similarity)  # doctest: +ELLIPSIS
    ProjectedCosine(hidden=None, out=128, tau=0.1, learn_tau=True, ...), plus a learned b from -10
    """
    return simclr(encoder, size=size).swap(
        # big_vision, configs/proj/image_text/SigLIP_demo.ipynb: t starts at 10, b at -10
        similarity=Biased(of=ProjectedCosine(tau=0.1, learn_tau=True), bias=-10.0),
        loss=Sigmoid(),
    )


def siglip_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose it for minutes on two cores.

    >>> siglip_small().similarity.of.hidden
    512
    """
    of = ProjectedCosine(hidden=512, tau=0.1, learn_tau=True)
    return simclr_small(encoder, size=size).swap(
        similarity=Biased(of=of, bias=-10.0), loss=Sigmoid()
    )


RECIPES = {
    "siglip": Recipe(siglip, REFERENCE),  # SimCLR's: nobody published one for two views
    "siglip-small": Recipe(
        siglip_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
