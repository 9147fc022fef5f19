"""Table 2 of the paper: how much a method depends on which feature maps it compares."""

from counterpoint.methods.amdim import STRATEGIES
from counterpoint.study.studies.scales import (
    BUDGET,
    CIFAR10,
    LABELLED,
    PROBES,
    RATES,
    SEEDS,
    TRAINING,
    WIDE,
    Scale,
    text,
)
from counterpoint.study.trial import Trial, seeds

METHODS = {
    "paper": {"AMDIM": "amdim-paper", "YADIM": "yadim"},
    "small": {"AMDIM": "amdim-small", "YADIM": "yadim-small"},
}


def table2(scale: Scale) -> list[Trial]:
    """Give AMDIM and YADIM with each of the four strategies, at equal images seen."""
    trials = [
        Trial(
            name=f"table2 {row} {column}",
            method=method,
            encoder=text(WIDE[scale]),
            swaps=(("extraction", strategy),),
            data=CIFAR10,
            budget=BUDGET[scale],
            training=TRAINING[scale],
            rates=RATES[scale],
            probes=PROBES[scale],
            labelled=LABELLED[scale],
            row=row,
            column=column,
        )
        for row, strategy in STRATEGIES.items()
        for column, method in METHODS[scale].items()
    ]
    return [one for trial in trials for one in seeds(trial, SEEDS[scale])]
