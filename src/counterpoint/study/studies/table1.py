"""Table 1 of the paper: how much a method depends on its encoder."""

from dataclasses import replace

from counterpoint.study.studies.scales import SEEDS, TYPES, WIDE, Scale, part_json, resnet, trial
from counterpoint.study.trial import Trial, seeds

METHODS = {
    "paper": {"AMDIM": "amdim-released", "CPC": "cpc-paper", "YADIM": "yadim"},
    "small": {"AMDIM": "amdim-small", "CPC": "cpc-small", "YADIM": "yadim-small"},
}
RELEASED = "counterpoint/study/studies/as_released.py"


def table1(scale: Scale) -> list[Trial]:
    """Return AMDIM, CPC and YADIM on the wide encoder and on ResNets, at equal images seen.

    Two more rows: each encoder with random weights; and AMDIM as the paper's code was released, on
    the ResNets, where it pairs an anchor with features of other images (`as_released.py`).
    """
    encoders = {"wide": part_json(WIDE[scale])} | {
        name: part_json(resnet(name, scale)) for name in TYPES[scale]
    }
    methods = {row: trial(scale, method) for row, method in METHODS[scale].items()}
    amdim = methods["AMDIM"]
    rows = {"random weights": replace(amdim, kind="random", rates=())} | methods
    cells = [
        _cell(base, row, column, encoder)
        for row, base in rows.items()
        for column, encoder in encoders.items()
    ]
    # On the wide encoder channel counts are equal, and the released code has no defect.
    defect = ("extraction", '{"part":"AsReleased"}')
    released = replace(amdim, swaps=(defect,), parts=RELEASED)
    cells += [_cell(released, "AMDIM as released", name, encoders[name]) for name in TYPES[scale]]
    return [one for cell in cells for one in seeds(cell, SEEDS[scale])]


def _cell(base: Trial, row: str, column: str, encoder: str) -> Trial:
    name = f"table1 {row} {column}"
    return replace(base, name=name, encoder=encoder, row=row, column=column)
