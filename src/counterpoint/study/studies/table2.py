"""Table 2 of the paper: how much a method depends on which feature maps it compares."""

from dataclasses import replace

from counterpoint.methods.amdim import STRATEGIES
from counterpoint.study.studies.scales import SEEDS, WIDE, Scale, part_json, trial
from counterpoint.study.trial import Trial, seeds

METHODS = {
    "paper": {"AMDIM": "amdim-released", "YADIM": "yadim"},
    "small": {"AMDIM": "amdim-small", "YADIM": "yadim-small"},
}


def table2(scale: Scale) -> list[Trial]:
    """Return AMDIM and YADIM with each of the four strategies, at equal images seen."""
    trials = [
        replace(
            trial(scale, method),
            name=f"table2 {row} {column}",
            encoder=part_json(WIDE[scale]),
            swaps=(("extraction", strategy),),
            row=row,
            column=column,
        )
        for row, strategy in STRATEGIES.items()
        for column, method in METHODS[scale].items()
    ]
    return [one for cell in trials for one in seeds(cell, SEEDS[scale])]
