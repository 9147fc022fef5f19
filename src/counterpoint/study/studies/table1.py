"""Table 1 of the paper: how much a method depends on its encoder."""

from dataclasses import replace

from counterpoint.study.studies.scales import (
    BUDGET,
    CIFAR10,
    LABELLED,
    PROBES,
    RATES,
    SEEDS,
    TRAINING,
    TYPES,
    WIDE,
    Scale,
    resnet,
    text,
)
from counterpoint.study.trial import Trial, seeds

METHODS = {
    "paper": {"AMDIM": "amdim-paper", "CPC": "cpc-paper", "YADIM": "yadim"},
    "small": {"AMDIM": "amdim-small", "CPC": "cpc-small", "YADIM": "yadim-small"},
}
RELEASED = "counterpoint/study/studies/as_released.py"


def table1(scale: Scale) -> list[Trial]:
    """Give AMDIM, CPC and YADIM on the wide encoder and on ResNets, at equal images seen.

    Two more rows: each encoder with random weights; and AMDIM as the paper's code was released, on
    the ResNets, where it pairs an anchor with features of other images (`as_released.py`).
    """
    encoders = {"wide": text(WIDE[scale])} | {
        name: text(resnet(name, scale)) for name in TYPES[scale]
    }
    trials = [
        _trial(scale, method, encoder, row=row, column=column)
        for row, method in METHODS[scale].items()
        for column, encoder in encoders.items()
    ]
    untrained = [
        replace(
            _trial(scale, METHODS[scale]["AMDIM"], encoder, row="random weights", column=column),
            kind="random",
            rates=(),
        )
        for column, encoder in encoders.items()
    ]
    released = [
        _trial(scale, METHODS[scale]["AMDIM"], encoders[name], row="AMDIM as released", column=name)
        for name in TYPES[scale]
    ]
    return [one for trial in [*untrained, *trials, *released] for one in seeds(trial, SEEDS[scale])]


def _trial(scale: Scale, method: str, encoder: str, *, row: str, column: str) -> Trial:
    released = row == "AMDIM as released"
    return Trial(
        name=f"table1 {row} {column}",
        method=method,
        encoder=encoder,
        swaps=(("extraction", '{"part":"AsReleased"}'),) if released else (),
        parts=RELEASED if released else None,
        data=CIFAR10,
        budget=BUDGET[scale],
        training=TRAINING[scale],
        rates=RATES[scale],
        probes=PROBES[scale],
        labelled=LABELLED[scale],
        row=row,
        column=column,
    )
