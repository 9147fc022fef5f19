"""Settings of SimCLR for thirty minutes: short trials of equal operations on validation images."""

from counterpoint.framework import codec
from counterpoint.parts.views import pipelines
from counterpoint.study import Flops, Trial
from counterpoint.study.trial import pairs

THREE_EPOCHS = Flops(3.51e13)
"""Those of `simclr-small`: step_flops, times 526 steps of 256 images."""


def study() -> list[Trial]:
    """Return one trial for each view size and learning rate."""
    tried = [(20, 3e-3), (16, 1e-2), (20, 1e-2), (16, 3e-3)]
    return [_trial(side, rate) for side, rate in tried]


def _trial(side: int, rate: float) -> Trial:
    views = pipelines.simclr_views(side, smallest=0.25, evaluation=32)
    return Trial(
        method="simclr-small",
        data="$COUNTERPOINT_DATA/cifar10",
        budget=THREE_EPOCHS,
        swaps=(("views", codec.to_text(codec.encode(views))),),
        training=pairs({"lr": rate}),
        probes=("knn",),
        untested=True,
        name=f"{side} pixels, rate {rate:g}",
        row=f"{side} pixels",
        column=f"rate {rate:g}",
    )
