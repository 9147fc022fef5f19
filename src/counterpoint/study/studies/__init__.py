"""The studies that come with the package: functions that return trials."""

from collections.abc import Callable

from counterpoint.study.studies.family import family
from counterpoint.study.studies.one_part import one_part_study
from counterpoint.study.studies.scales import Scale
from counterpoint.study.studies.table1 import table1
from counterpoint.study.studies.table2 import table2
from counterpoint.study.studies.table3 import table3
from counterpoint.study.studies.yadim_parts import yadim_parts
from counterpoint.study.trial import Trial

STUDIES: dict[str, Callable[[Scale], list[Trial]]] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "parts": one_part_study,
    "family": family,
    "yadim": yadim_parts,
}

__all__ = ["STUDIES", "family", "one_part_study", "table1", "table2", "table3", "yadim_parts"]
