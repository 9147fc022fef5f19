"""A cell is one trial with several seeds: other trials in it were counted as seeds."""

from dataclasses import replace
from pathlib import Path

import pytest

from counterpoint.cli import main
from counterpoint.study import Images, Seconds
from counterpoint.study.load import trials_of
from counterpoint.study.shorten import shortened
from counterpoint.study.studies import STUDIES
from counterpoint.study.tables.outcome_table import tabulate
from counterpoint.study.tables.repeats import require_repeats
from study.trials import outcome, tiny

DOCS = Path(__file__).parents[2] / "docs" / "results"
SWEEP = """
from counterpoint.study import Images, Trial

def study():
    some = {"method": "simclr-small", "data": "cifar10", "budget": Images(96), "row": "SimCLR"}
    return [Trial(training=(("lr", rate),), **some) for rate in (1e-3, 3e-3)]
"""


def test_a_sweep_without_rows_is_refused_before_its_first_trial(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(SWEEP)
    for more in (["--out", "results"], ["--plan", "--speed", "1"]):
        said = r"row 'SimCLR' and column '' have trials that differ in training; .* its own row"
        with pytest.raises(SystemExit, match=said):
            main(["study", "mine.py", *more])
    assert not (tmp_path / "results").exists()


def test_other_trials_are_not_taken_for_seeds():
    one, other = outcome("a", "x", 0, 0.4), outcome("a", "x", 1, 0.8)
    assert len(tabulate([one, other]).cell("a", "x").values) == 2
    longer = replace(other, trial=replace(other.trial, limit=500))
    with pytest.raises(ValueError, match="differ in limit"):
        tabulate([one, longer])
    failed = replace(longer, state="failed")
    assert tabulate([one, failed]).cell("a", "x").values == (0.4,)


def test_a_trial_that_is_listed_twice_is_one_seed():
    one, other = outcome("a", "x", 0, 0.4), outcome("b", "x", 0, 0.5)
    planned = [(o.fingerprint, o.trial) for o in (one, other, one)]
    planned.append((one.fingerprint, replace(one.trial, column="y")))
    table = tabulate([one, other], planned=planned)
    assert table.cell("a", "x").values == table.cell("a", "y").values == (0.4,)
    assert (table.rows, table.columns) == (("a", "b"), ("x", "y"))


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("scale", ["small", "paper"])
def test_the_cells_of_our_studies_are_repeats(name, scale):
    require_repeats(trials_of(name, scale))


def test_seeds_may_have_names_of_their_own():
    require_repeats([tiny(seed, name=f"one {seed}") for seed in range(3)])


def test_one_seed_may_say_by_the_clock_how_many_images_the_others_see():
    timed, other = (tiny(0, name=""), tiny(1, name=""))
    timed = replace(timed, budget=Seconds(60))
    require_repeats([timed, other])
    require_repeats(trials_of(str(DOCS / "thirty_minutes.py"), "small"))
    with pytest.raises(ValueError, match="differ in budget"):
        require_repeats([other, replace(other, budget=Images(7))])
    with pytest.raises(ValueError, match="differ in budget"):
        require_repeats([timed, other, replace(other, seed=2, budget=Images(7))])


def test_one_seed_of_a_cell_is_one_whatever_its_budget():
    """The seed by the clock and the next one were both the first of their budget."""
    trials = trials_of(str(DOCS / "thirty_minutes.py"), "small")
    for count in (1, 2, 3):
        kept = shortened(trials, seeds=count)
        assert [(t.row, t.seed) for t in kept] == [
            (t.row, t.seed) for t in trials if t.seed < count
        ]
