"""All methods on one encoder: at equal images, and at equal operations."""

from dataclasses import replace

from counterpoint.catalogue import METHODS
from counterpoint.study.budget import Flops, Images
from counterpoint.study.studies.scales import BUDGET, NARROW, SEEDS, Scale, part_json, trial
from counterpoint.study.trial import Trial, seeds

ENCODER = {"small": part_json(NARROW), "paper": "resnet18"}
MEASURED = ("rankme", "lidar", "alpha", "rotation", "learnability")
"""Without labels: the criteria that there were when this study was run. With another one all of its
trials would be new."""
OPERATIONS = {
    # Those of SimCLR on this encoder at equal images: step_flops, times 176 steps of 128 images.
    "small": Flops(1.501e12),
    # The same of a ResNet-18 at the batch of its recipe, 512.
    "paper": Flops(8.995e16),
}
EQUAL = {Images: "equal images", Flops: "equal operations"}
SAME_STEP = frozenset(
    ("simclr", "supcon", "simclrts", "dcl", "dclw", "debiased", "hcl", "siglip", "alignuniform")
)
"""Methods whose step takes SimCLR's operations, within 0.2 % on the narrow encoder: one
trial is in both columns."""


def family(scale: Scale) -> list[Trial]:
    """Return every method and random weights, in the form of table 3, each with its recipe's rate.

    A method that needs labels is among them, as a mark of what labels give. All criteria without
    labels are measured too: so many different methods show what each criterion is worth.
    """
    cells = [
        replace(
            trial(scale, f"{name}-small" if scale == "small" else name),
            name=f"family {name} {EQUAL[type(budget)]}",
            encoder=ENCODER[scale],
            budget=budget,
            rates=(),
            criteria=MEASURED,
            row=name,
            column=column,
        )
        for name in METHODS
        for column, budget in columns(scale, name).items()
    ]
    simclr = next(cell for cell in cells if cell.row == "simclr")
    mark = replace(simclr, name="family random", kind="random", row="random weights")
    return [one for cell in (mark, *cells) for one in seeds(cell, SEEDS[scale])]


def columns(scale: Scale, name: str) -> dict[str, Images | Flops]:
    """Return what a method may consume in each column.

    >>> columns("small", "byol")
    {'equal images': Images(n=22500), 'equal operations': Flops(n=1501000000000.0)}
    >>> columns("small", "dcl")["equal operations"]
    Images(n=22500)
    """
    images = BUDGET[scale]
    operations = images if name in SAME_STEP else OPERATIONS[scale]
    return {EQUAL[Images]: images, EQUAL[Flops]: operations}
