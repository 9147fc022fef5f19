"""The tables of docs/results.md are those of the result files in the repository."""

from pathlib import Path

import pytest

from counterpoint.study.bundling import read
from counterpoint.study.figure import svg
from counterpoint.study.table import tabulate
from counterpoint.study.trial import Trial
from counterpoint.study.writing import markdown

DOCS = Path(__file__).parents[2] / "docs"
STUDIES = ("table1", "table2", "table3", "parts")


@pytest.mark.parametrize("name", STUDIES)
def test_the_documented_table_is_what_its_results_say(name):
    outcomes, planned = read(str(DOCS / "results" / f"{name}.json"))
    table = tabulate(outcomes, planned=planned)
    assert markdown(table).partition("\n\n")[0] in (DOCS / "results.md").read_text()
    assert svg(table) == (DOCS / "results" / f"{name}.svg").read_text()


@pytest.mark.parametrize("name", STUDIES)
def test_results_name_no_machine(name):
    outcomes, planned = read(str(DOCS / "results" / f"{name}.json"))
    for trial in (*(o.trial for o in outcomes), *(t for _, t in planned)):
        assert isinstance(trial, Trial)
        assert trial.data.startswith("$COUNTERPOINT_DATA")
        assert not (trial.parts or "").startswith("/")
