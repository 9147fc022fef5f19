"""Train the candidates of three searches again, and measure the rotation probe in folds.

    counterpoint study docs/results/rotation_in_folds.py --figure rotation-folds

Training repeats to the bit on one kind of machine, so `rotation` is the figure that the search has.
"""

from dataclasses import replace
from pathlib import Path

from counterpoint.study import Trial
from counterpoint.study.bundle import read_study

DESIGN = Path(__file__).parents[1] / "design"
SEARCHES = ("third-search", "fourth-search", "random-search")


def study() -> list[Trial]:
    """Return the trials of all three, without probes: no label is read."""
    return [trial for search in SEARCHES for trial in again(search)]


def again(search: str) -> list[Trial]:
    """Return the trials of a search with other figures to measure."""
    outcomes, _ = read_study(str(DESIGN / search / "outcomes.json"))
    return [
        replace(
            outcome.trial,
            probes=(),
            criteria=("rotation", "rotation-folds"),
            row=f"{search} {outcome.trial.name}",
            column="full length",
        )
        for outcome in outcomes
    ]
