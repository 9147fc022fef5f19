"""Table 3 twenty times as long: ten epochs each, at equal images and at equal operations.

Probes read all labels, as in the confirmations of a search; table 3 reads 5,000.
"""

from dataclasses import replace

from counterpoint.study import Flops, Images, Trial
from counterpoint.study.studies.table3 import table3

EQUAL_IMAGES = Images(450_000)
EQUAL_OPERATIONS = Flops(2.999e13)
"""Those of SimCLR for ten epochs: step_flops, times 3,516 steps of 128 images."""
BOTH = ("SimCLR", "random weights", "supervised")
"""Rows whose one trial stands in both columns."""


def study() -> list[Trial]:
    """Return the trials of both columns seed by seed: a study that is stopped has whole seeds."""
    columns = {"ten epochs": EQUAL_IMAGES, "equal operations": EQUAL_OPERATIONS}
    trials = [
        replace(
            trial,
            budget=EQUAL_IMAGES if trial.row in BOTH else budget,
            probes=("knn", "linear", "mlp"),
            labelled=None,
            name=f"{trial.row}, {column}",
            column=column,
        )
        for trial in table3("small")
        for column, budget in columns.items()
    ]
    return sorted(trials, key=lambda trial: trial.seed)
