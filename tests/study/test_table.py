"""Tables: means, spreads, marks, empty cells, and their four forms."""

import csv
import io
import xml.etree.ElementTree as ET

import pytest

from counterpoint.study.dashboard import Progress
from counterpoint.study.runners.events import Event
from counterpoint.study.tables.figure import table_figure
from counterpoint.study.tables.formats import as_csv, latex, markdown
from counterpoint.study.tables.outcome_table import tabulate
from reference import student
from study.trials import COUNT, outcome, tiny

SOME = [
    outcome("AMDIM", "wide", 0, 0.60),
    outcome("AMDIM", "wide", 1, 0.62),
    outcome("CPC", "wide", 0, 0.50),
    outcome("CPC", "wide", 1, 0.50),
    outcome("CPC", "resnet_18", 0, 0.40),
]


def test_cells_have_mean_spread_cost_and_a_mark():
    table = tabulate(SOME)
    best, behind = table.cell("AMDIM", "wide"), table.cell("CPC", "wide")
    assert best.best
    assert best.mean == pytest.approx(0.61)
    assert best.spread == pytest.approx(0.02 / 2**0.5)
    assert best.flops == 2e15
    assert behind.behind
    first = [[float(i < n) for i in range(COUNT)] for n in (500, 500, 600, 620)]
    assert behind.p == pytest.approx(student.paired(first[:2], first[2:]), rel=1e-7)
    assert table.cell("AMDIM", "resnet_18") is None
    assert not table.cell("CPC", "resnet_18").best  # alone in its column


def test_a_small_difference_has_no_mark():
    close = [outcome("a", "x", 0, 0.500), outcome("b", "x", 0, 0.502)]
    assert not tabulate(close).cell("a", "x").behind
    far = [outcome("a", "x", 0, 0.45, kept=False), outcome("b", "x", 0, 0.5, kept=False)]
    assert tabulate(far).cell("a", "x").p is None  # one seed, no images: nothing can be said


def test_rows_can_be_compared_instead():
    table = tabulate(SOME, compare="row")
    assert table.cell("CPC", "wide").best
    assert table.cell("CPC", "resnet_18").behind


def test_what_was_planned_and_not_run_stays_empty():
    planned = [(o.fingerprint, o.trial) for o in SOME[::-1]]
    planned.append(("never", tiny(row="YADIM", column="wide")))
    table = tabulate(SOME[1:], planned=planned)
    assert table.rows == ("CPC", "AMDIM", "YADIM")
    assert table.columns == ("resnet_18", "wide")
    assert "| YADIM |  |  |" in markdown(table)


def test_the_four_forms():
    table = tabulate(SOME)
    assert "| AMDIM | **61.0** ± 1.4 [2,000] |  |" in markdown(table)
    assert "50.0 ± 0.0*" in markdown(table, cost="none")
    assert r"resnet\_18" in latex(table)
    assert r"\textbf{61.0} $\pm$ 1.4 &  \\" in latex(table)
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert tuple(rows[0][key] for key in ("row", "column", "mean")) == ("AMDIM", "wide", "0.61")
    drawn = ET.fromstring(table_figure(table))
    assert len(drawn.findall(".//{*}circle")) == 3
    words = "".join(drawn.itertext())
    assert "resnet_18" in words
    assert "61.0" in words
    assert "filled: the best of its column" in words


def test_a_figure_brings_its_own_paper_and_ink():
    """On a dark page black words on nothing could not be read."""
    drawn = ET.fromstring(table_figure(tabulate(SOME)))
    paper = drawn.find("{*}rect")
    assert paper is not None
    _, _, width, height = drawn.get("viewBox").split()
    assert (paper.get("width"), paper.get("height")) == (f"{float(width)}", f"{float(height)}")
    assert (paper.get("fill"), drawn.get("fill")) == ("#ffffff", "#1f2328")


def test_an_unknown_figure_says_which_there_are():
    with pytest.raises(ValueError, match="it has linear"):
        tabulate(SOME, figure="mlp")


def test_progress_counts_and_estimates():
    now = iter(range(0, 1000, 10))
    progress = Progress(clock=lambda: float(next(now)))
    trials = [tiny(seed) for seed in range(4)]
    for trial in trials:
        progress.tell(Event(trial, "waiting"))
    assert progress.left_seconds() is None
    progress.tell(Event(trials[0], "running"))
    found = outcome("a", "SimCLR", 0, 0.3)
    progress.tell(Event(trials[0], "done", outcome=found))
    assert (progress.count("done"), progress.count("waiting")) == (1, 3)
    assert progress.left_seconds() == 30.0
    assert progress.best()["SimCLR"][1] == 0.3
    progress.tell(Event(trials[1], "failed", "no memory"))
    assert progress.table().row_count == 4
