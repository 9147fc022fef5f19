"""Thirty minutes of two cores with bf16 units: SimCLR. It has not been run to its end yet."""

from dataclasses import replace

from counterpoint.framework import codec
from counterpoint.methods.simclr import simclr_small
from counterpoint.parts.similarity import ProjectedCosine
from counterpoint.parts.views import pipelines
from counterpoint.study import Seconds, Trial
from counterpoint.study.trial import pairs, seeds

METHOD = simclr_small().swap(
    views=pipelines.simclr_views(16, smallest=0.25, evaluation=32),
    similarity=ProjectedCosine(hidden=512, tau=0.1),
)
"""Whether a tau of 0.1 is best, thirty_minutes_bf16_settings.py is to show; it was not run yet."""


def study() -> list[Trial]:
    """Return three seeds, each to have the machine for itself (--at-once 1 --cpus 2)."""
    simclr = Trial(
        method=codec.to_text(codec.encode(METHOD)),
        data="$COUNTERPOINT_DATA/cifar10",
        budget=Seconds(30 * 60),
        training=pairs(
            {
                "optimiser": "adamw",
                "weight_decay": 0.05,
                "batch": 256,
                "lr": 1e-2,
                "precision": "bf16-mixed",
            }
        ),
        probes=("knn", "linear", "mlp"),
        name="SimCLR, thirty minutes in bf16",
        row="SimCLR",
        column="CIFAR-10",
    )
    random = replace(simclr, kind="random", name="random weights", row="random weights")
    return [*seeds(simclr, 3), *seeds(random, 3)]
