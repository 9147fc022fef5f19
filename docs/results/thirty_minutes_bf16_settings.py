"""Settings of SimCLR in bf16 for thirty minutes: ten epochs each, on validation images."""

from typing import Any

from counterpoint.framework import codec
from counterpoint.methods.simclr import simclr_small
from counterpoint.parts.similarity import ProjectedCosine
from counterpoint.parts.views import pipelines
from counterpoint.study import Images, Trial
from counterpoint.study.trial import pairs

TEN_EPOCHS = Images(450_000)
TAU = 0.2
"""Of `simclr-small`."""


def study() -> list[Trial]:
    """Return one trial for each setting; the first has those of thirty_minutes.py."""
    return [
        _trial("as before"),
        _trial("tau 0.1", tau=0.1),
        _trial("crops of at least 0.15", smallest=0.15),
        _trial("rate 0.02", lr=2e-2),
        _trial("batches of 512", batch=512),
    ]


def _trial(row: str, *, smallest: float = 0.25, tau: float = TAU, **training: Any) -> Trial:
    method = simclr_small().swap(
        views=pipelines.simclr_views(16, smallest=smallest, evaluation=32),
        similarity=ProjectedCosine(hidden=512, tau=tau),
    )
    return Trial(
        method=codec.to_text(codec.encode(method)),
        data="$COUNTERPOINT_DATA/cifar10",
        budget=TEN_EPOCHS,
        training=pairs(
            {
                "optimiser": "adamw",
                "weight_decay": 0.05,
                "batch": 256,
                "lr": 1e-2,
                "precision": "bf16-mixed",
                **training,
            }
        ),
        probes=("knn", "linear"),
        untested=True,
        name=f"thirty minutes, {row}",
        row=row,
        column="CIFAR-10",
    )
