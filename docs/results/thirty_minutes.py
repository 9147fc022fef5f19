"""Thirty minutes of two cores: SimCLR with settings chosen on validation images, and Ricercar."""

from dataclasses import replace

from counterpoint.framework import codec
from counterpoint.parts.views import pipelines
from counterpoint.study import Images, Seconds, Trial
from counterpoint.study.trial import pairs, seeds

VIEWS = pipelines.simclr_views(16, smallest=0.25, evaluation=32)
"""The better side of thirty_minutes_settings.py."""
AS_MANY = Images(1_359_616)
"""What the first seed saw by its thirty minutes: all others see as many, however busy it is."""
COMMON = {
    "data": "$COUNTERPOINT_DATA/cifar10",
    "budget": AS_MANY,
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
    first, *others = seeds(simclr, 3)
    timed = replace(first, budget=Seconds(30 * 60))
    return [timed, *others, *seeds(ricercar, 3), *seeds(random, 3)]
