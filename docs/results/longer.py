"""Table 3 four times as long, for the first of its methods and labels: two epochs each."""

from dataclasses import replace

from counterpoint.study import Images, Trial
from counterpoint.study.studies.table3 import table3

ROWS = ("CMC", "supervised")


def study() -> list[Trial]:
    """Give the trials of table 3 that are asked about, seed by seed, at four times its images."""
    trials = [replace(t, budget=Images(90_000)) for t in table3("small") if t.row in ROWS]
    return sorted(trials, key=lambda trial: trial.seed)
