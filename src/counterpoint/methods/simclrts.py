"""SimCLR with a temperature schedule (Kukleva et al. 2023): tau swings between two values."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.methods.simclr import simclr, simclr_small
from counterpoint.parts.encoders import NarrowResNet, resnet_for
from counterpoint.parts.similarity import CyclicTau, ProjectedCosine

ORIGIN = Origin(
    title="SimCLR-TS",
    authors="Kukleva et al.",
    year=2023,
    arxiv="2303.13664",
    after="simclr",
    idea="The temperature swings, so that groups and single images are told apart by turns.",
)

SMALL = NarrowResNet()


def simclrts(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose SimCLR with tau from 1 to 0.1 and back, five times in a run.

    >>> simclrts().similarity.tau_at(0.1)
    0.1
    """
    encoder = encoder or resnet_for("resnet18" if size <= 32 else "resnet50", size)
    return simclr(encoder, size=size).swap(
        similarity=CyclicTau(of=ProjectedCosine(tau=1.0), lowest=0.1, highest=1.0, cycles=5)
    )


def simclrts_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose the same for minutes on two cores: a run of two epochs has two cycles.

    >>> simclrts_small().similarity.cycles
    2
    """
    return simclr_small(encoder, size=size).swap(
        similarity=CyclicTau(
            of=ProjectedCosine(hidden=512, tau=1.0), lowest=0.1, highest=0.5, cycles=2
        )
    )


RECIPES = {
    # annusha/temperature_schedules, README, CIFAR-10: SGD 0.5 at 512 images, 2,000 epochs, cosine.
    # 1e-4 on all weights and 10 epochs of warm-up are VITA-Group/SDCLR's, train_simCLR.py, which it
    # is based on.
    "simclrts": Recipe(
        simclrts,
        Training(
            optimiser="sgd",
            decay_norms=True,
            lr=0.5 * 256 / 512,
            batch=512,
            weight_decay=1e-4,
            epochs=2000,
            warmup=0.005,
        ),
    ),
    "simclrts-small": Recipe(
        simclrts_small,
        Training(optimiser="adamw", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
