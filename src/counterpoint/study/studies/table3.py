"""Table 3 of the paper: how well classes separate, between a lower and an upper mark."""

from dataclasses import dataclass, replace
from typing import Literal

from counterpoint.methods import SEVEN
from counterpoint.study.budget import Images
from counterpoint.study.studies.scales import (
    BUDGET,
    CIFAR10,
    NARROW,
    RATES,
    SEEDS,
    Scale,
    part_json,
    trial,
)
from counterpoint.study.trial import Trial, seeds

NAMES = {
    "amdim": "AMDIM",
    "cpc": "CPC",
    "simclr": "SimCLR",
    "moco": "MoCo",
    "byol": "BYOL",
    "cmc": "CMC",
    "yadim": "YADIM",
}
NO_GRID = {"byol", "cmc"}
"""Their held-out loss cannot choose a rate (`learning_rate.py`): they keep their recipe's."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: where its images are, the side of a view, and the images seen."""

    name: str
    data: str
    size: int | None
    budget: Images


PLACES: dict[str, tuple[Column, ...]] = {
    "small": (Column("CIFAR-10", CIFAR10, None, BUDGET["small"]),),
    "paper": (
        Column("CIFAR-10", CIFAR10, None, BUDGET["paper"]),
        # Section 4: 100,000 unlabelled images at 64 pixels; 1.23 million at 128. Epochs: ours,
        # the paper gives hours of GPUs.
        Column("STL-10", "$COUNTERPOINT_DATA/stl10", 64, Images(300 * 100_000)),
        Column("ImageNet", "$COUNTERPOINT_DATA/imagenet", 128, Images(100 * 1_231_167)),
    ),
}


def table3(scale: Scale) -> list[Trial]:
    """Return the seven methods, random weights below them and labels above, at equal images seen.

    At the small scale all have the same narrow ResNet; at the paper's each has its own encoder,
    and the two marks a ResNet-50.
    """
    rows = [
        _mark(scale, "random"),
        *(_method(scale, name) for name in SEVEN),
        _mark(scale, "supervised"),
    ]
    cells = [
        replace(
            row,
            name=f"table3 {row.row} {place.name}",
            data=place.data,
            size=place.size,
            budget=place.budget,
            column=place.name,
        )
        for row in rows
        for place in PLACES[scale]
    ]
    return [one for cell in cells for one in seeds(cell, SEEDS[scale])]


def _method(scale: Scale, name: str) -> Trial:
    return replace(
        trial(scale, f"{name}-small" if scale == "small" else name),
        encoder=part_json(NARROW) if scale == "small" else None,
        rates=() if name in NO_GRID else RATES[scale],
        row=NAMES[name],
    )


def _mark(scale: Scale, kind: Literal["random", "supervised"]) -> Trial:
    """Return the encoder of a table without training, or trained by labels on SimCLR's views."""
    return replace(
        _method(scale, "simclr"),
        encoder=part_json(NARROW) if scale == "small" else "resnet50",
        kind=kind,
        rates=() if kind == "random" else RATES[scale],
        row="random weights" if kind == "random" else "supervised",
    )
