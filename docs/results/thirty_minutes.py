"""Thirty minutes of two cores: SimCLR with settings chosen on validation images, and Ricercar."""

from dataclasses import replace

from counterpoint.framework import codec
from counterpoint.parts.views import pipelines
from counterpoint.study import Seconds, Trial
from counterpoint.study.trial import pairs, seeds

VIEWS = pipelines.simclr_views(16, smallest=0.25, evaluation=32)
"""The better side of thirty_minutes_settings.py."""
COMMON = {
    "data": "$COUNTERPOINT_DATA/cifar10",
    "budget": Seconds(30 * 60),
    "probes": ("knn", "linear", "mlp"),
    "column": "CIFAR-10",
}


def study() -> list[Trial]:
    """Return three seeds of each; every trial is to have the machine for itself (--at-once 1)."""
    simclr = Trial(
        method="simclr-small",
        swaps=(("views", codec.to_text(codec.encode(VIEWS))),),
        training=pairs({"lr": 1e-2}),
        name="SimCLR, thirty minutes",
        row="SimCLR",
        **COMMON,
    )
    ricercar = Trial(
        method="ricercar-small", name="Ricercar, thirty minutes", row="Ricercar", **COMMON
    )
    random = replace(simclr, kind="random", name="random weights", row="random weights")
    return [trial for cell in (simclr, ricercar, random) for trial in seeds(cell, 3)]
