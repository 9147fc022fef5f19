"""Tables: means, spreads, marks, empty cells, and their four forms."""

import csv
import io
import math
import threading
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from counterpoint.report.words import THIN
from counterpoint.study.dashboard import Progress
from counterpoint.study.runners.events import Event
from counterpoint.study.tables.figure import table_figure
from counterpoint.study.tables.formats import as_csv, latex, markdown
from counterpoint.study.tables.outcome_table import tabulate
from counterpoint.study.tables.part_effects import decided
from reference import student
from study.trials import COUNT, outcome, tiny

SOME = [
    outcome("AMDIM", "wide", 0, 0.60),
    outcome("AMDIM", "wide", 1, 0.62),
    outcome("CPC", "wide", 0, 0.50),
    outcome("CPC", "wide", 1, 0.50),
    outcome("CPC", "resnet_18", 0, 0.40),
]


def test_labels_are_a_mark_and_not_the_best():
    def taught(accuracy):
        made = outcome("supervised", "wide", 0, accuracy)
        return replace(made, trial=replace(made.trial, kind="supervised"))

    above = tabulate([*SOME, taught(0.9)])
    assert above.cell("AMDIM", "wide") == tabulate(SOME).cell("AMDIM", "wide")
    mark = above.cell("supervised", "wide")
    assert (mark.best, mark.p, mark.behind) == (False, None, False)
    assert "Supervised: trained with labels, and not compared as the best." in markdown(above)
    below = tabulate([*SOME, taught(0.3)])
    assert below.cell("AMDIM", "wide").best
    assert below.cell("supervised", "wide").behind
    assert "Supervised" not in markdown(tabulate(SOME))


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


@pytest.mark.parametrize("letters", [3, 32, 48, 90])
def test_a_long_name_of_a_row_ends_before_the_plot(letters):
    row = "W" * letters
    drawn = ET.fromstring(table_figure(tabulate([outcome(row, "x", 0, 0.5)])))
    name = next(text for text in drawn.findall(".//{*}text") if text.text.startswith("W"))
    dot = drawn.find(".//{*}circle")
    assert float(name.get("x")) + 7 * len(name.text) < float(dot.get("cx"))
    assert name.text == (row if letters <= 48 else f"{row[:47]}…")


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


def test_the_time_left_can_be_asked_for_while_a_trial_begins():
    """Another thread asked when its state was noted and its start was not: a KeyError."""
    said, threads = [], []

    def ask():
        try:
            said.append((progress.left_seconds(), progress.count("running")))
        except KeyError as error:
            said.append(error)

    def clock():
        if threading.current_thread() is threading.main_thread() and progress.took:
            threads.append(threading.Thread(target=ask))
            threads[-1].start()
            threads[-1].join(timeout=0.2)
        return 10.0

    progress = Progress(clock=clock)
    one, other = tiny(0), tiny(1)
    progress.tell(Event(one, "running"))
    progress.tell(Event(one, "done"))
    progress.tell(Event(other, "running"))
    for thread in threads:
        thread.join()
    assert said == [(0.0, 1)]


def unlabelled(row, seed, **figures):
    """An outcome that no test image was read for: its figures are all that is known."""
    named = {name.replace("_", " "): value for name, value in figures.items()}
    return replace(outcome(row, "x", seed, 0.0, kept=False), figures=named, tested=0)


RANKS = [
    unlabelled("low", 0, rankme=42.1, lr=1e-3, collapsed=0.0),
    unlabelled("low", 1, rankme=42.3, lr=3e-3, collapsed=0.0),
    unlabelled("high", 0, rankme=61.0, lr=3e-3, collapsed=0.0),
    unlabelled("high", 1, rankme=61.5, lr=3e-3, collapsed=0.0),
]


def test_a_criterion_is_no_test_accuracy_in_any_form():
    table = tabulate(RANKS, figure="rankme")
    written = markdown(table, cost="none")
    assert "| low | 42.2 ± 0.1* |" in written
    assert "| high | **61.2** ± 0.4 |" in written
    assert "Criterion rankme (no labels used), mean ± standard deviation over 2 seeds." in written
    assert r"\textbf{61.2} $\pm$ 0.4 \\" in latex(table)
    words = list(ET.fromstring(table_figure(table)).itertext())
    assert {"Criterion rankme (no labels used)", "42.2*", "42.2", "61.2", "45", "60"} <= set(words)
    for text in (written, latex(table), *words):
        assert "accuracy" not in text
        assert "percent" not in text
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert [row["best"] for row in rows] == ["0", "1"]


def test_validation_accuracy_is_called_so():
    some = [unlabelled(row, 0, linear_validation=value) for row, value in (("a", 0.5), ("b", 0.6))]
    table = tabulate(some, figure="linear validation")
    assert "| b | **60.0** |" in markdown(table, cost="none")
    assert "Validation accuracy of the linear probe in percent, mean" in markdown(table)
    assert "Validation accuracy of the linear probe, percent" in table_figure(table)


@pytest.mark.parametrize(
    ("figure", "words", "cell"),
    [
        ("lr", "Learning rate, mean ±", "| low | 0.002 ± 0.00141 |"),
        ("collapsed", "Share of seeds whose encoder collapsed, mean ±", "| low | 0.00 ± 0.00 |"),
    ],
)
def test_what_cannot_be_better_has_no_best(figure, words, cell):
    table = tabulate(RANKS, figure=figure)
    written = markdown(table, cost="none")
    assert cell in written
    assert words in written
    assert "Bold" not in written
    assert "filled" not in table_figure(table)
    assert not any(one.best or one.behind for one in table.cells.values())


def test_of_alpha_the_nearest_to_one_is_best():
    values = {"near": (1.10, 1.12), "above": (1.50, 1.52), "below": (0.48, 0.50)}
    some = [unlabelled(row, n, alpha=v) for row, pair in values.items() for n, v in enumerate(pair)]
    table = tabulate(some, figure="alpha")
    assert [row for row in values if table.cell(row, "x").best] == ["near"]
    assert [row for row in values if table.cell(row, "x").behind] == ["above", "below"]
    assert "Criterion alpha (no labels used; nearest to 1 is best), mean" in markdown(table)


def test_two_alphas_as_far_from_one_are_not_told_apart():
    """Their values differ by far more than their spread; how good they are does not."""
    some = [unlabelled("a", n, alpha=value) for n, value in enumerate((0.80, 0.81, 0.79))]
    some += [unlabelled("b", n, alpha=value) for n, value in enumerate((1.21, 1.19, 1.203))]
    table = tabulate(some, figure="alpha")
    assert table.cell("a", "x").best
    assert table.cell("b", "x").p > 0.5


@pytest.mark.parametrize("others", [(), (math.nan,), (30.0, 31.0)])
def test_a_collapsed_seed_is_never_best(others):
    """First of its column, where the largest by plain comparison was the one that is no number."""
    fallen = [unlabelled("fallen", n, rankme=v) for n, v in enumerate((math.nan, *others))]
    table = tabulate([*fallen, *RANKS], figure="rankme")
    assert [row for row in table.rows if table.cell(row, "x").best] == ["high"]
    assert table.cell("low", "x").behind
    assert table.cell("fallen", "x").p is None
    assert "| fallen | nan |" in markdown(table, cost="none")
    assert "nan: a seed has no figure" in markdown(table)
    assert "\nfallen & nan \\\\\n" in latex(table)
    assert as_csv(table).splitlines()[1].startswith(f"fallen,x,{len(fallen)},nan,")
    drawn = ET.fromstring(table_figure(table))
    assert len(drawn.findall(".//{*}circle")) == 2, "what is no number has no place on the axis"
    assert "nan" not in {value for at in drawn.iter() for value in at.attrib.values()}
    assert "nan" in set(drawn.itertext())


def test_where_all_collapsed_nothing_is_best():
    table = tabulate([unlabelled(row, 0, rankme=math.nan) for row in "ab"], figure="rankme")
    assert not any(one.best or one.behind for one in table.cells.values())
    assert "**" not in markdown(table)
    assert table_figure(table).startswith("<svg")


def test_points_are_of_accuracies_only():
    table = tabulate(RANKS, figure="rankme")
    with pytest.raises(ValueError, match=r"points .* got the figure 'rankme'.*--figure"):
        decided(table, [one.trial for one in RANKS])


def lines(progress):
    """What the dashboard says, a row to a line."""
    return [" ".join(row) for row in zip(*(c.cells for c in progress.table().columns), strict=True)]


@pytest.mark.parametrize(
    ("figure", "values", "best"),
    [
        ("rankme", (math.nan, 42.1, 40.0), ["best so far, SimCLR b: 42.1 rankme"]),
        ("alpha", (math.nan, 1.2, 1.9), ["best so far, SimCLR b: 1.200 alpha"]),
        ("knn validation", (0.4, 0.5, 0.3), ["best so far, SimCLR b: 50.0 % knn validation"]),
        ("linear", (0.4, 0.5, 0.3), ["best so far, SimCLR b: 50.0 % linear"]),
        ("lr", (1e-3, 3e-3, 1e-3), []),
        ("rankme", (math.nan, math.nan, math.nan), []),
    ],
)
def test_progress_shows_a_criterion_as_it_is_and_the_best_by_it(figure, values, best):
    progress = Progress(figure=figure)
    for seed, (row, value) in enumerate(zip("abc", values, strict=True)):
        found = replace(outcome(row, "SimCLR", seed, 0.0), figures={figure: value})
        progress.tell(Event(tiny(seed, row=row), "done", outcome=found))
    taught = replace(outcome("labels", "SimCLR", 0, 0.0), figures={figure: 0.99})
    progress.tell(Event(tiny(9, row="labels", kind="supervised"), "done", outcome=taught))
    told = [line.replace(THIN, " ") for line in lines(progress) if "best" in line]
    assert told == best
