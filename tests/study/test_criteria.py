"""Trials without labels, and trials of before that keep their names."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from counterpoint.data import open_data
from counterpoint.evaluation.criteria import CRITERIA
from counterpoint.study import Images, Outcome, ResultStore, Trial, run_trial
from counterpoint.study.tables.outcome_table import require_figure
from study.trials import tiny

RESULTS = Path(__file__).parents[2] / "docs/results"


def test_trials_without_criteria_keep_their_fingerprint():
    kept = json.loads((RESULTS / "table1.json").read_text())["trials"]
    trials = [(one["fingerprint"], Trial.from_json(json.dumps(one["trial"]))) for one in kept]
    trials = [(known, trial) for known, trial in trials if trial.parts is None]  # no file changed
    assert len(trials) == 60
    assert [known for known, _ in trials] == [trial.fingerprint for _, trial in trials]
    _, some = trials[0]
    assert replace(some, criteria=("rankme",)).fingerprint != some.fingerprint
    asked = replace(some, criteria=("rankme", "lidar"), probes=())
    assert Trial.from_json(asked.to_json()) == asked


@pytest.fixture(scope="module")
def unlabelled(data, tmp_path_factory):
    """A folder of 70 photos, and nothing that says what they show."""
    folder = tmp_path_factory.mktemp("holiday")
    for number, file in enumerate(sorted((data / "caltech20").glob("*/*.jpg"))[::20][:70]):
        shutil.copy(file, folder / f"{number:03}.jpg")
    return folder


def test_images_without_labels_are_enough(unlabelled, tmp_path):
    assert not open_data(unlabelled).train.has_labels
    asked = tiny(data=str(unlabelled), size=32, limit=None, probes=(), criteria=CRITERIA)
    once, again = (run_trial(asked, ResultStore(str(tmp_path / name))) for name in "ab")
    assert set(once.figures) == {*CRITERIA, "collapsed", "lr"}
    assert all(map(math.isfinite, once.figures.values()))
    assert (once.right, once.tested) == ({}, 0)
    assert once.figures == again.figures  # bit for bit
    assert ResultStore(str(tmp_path / "a")).find(asked) == once
    with pytest.raises(ValueError, match="no labels"):
        run_trial(replace(asked, probes=("knn",)), ResultStore(str(tmp_path / "c")))


def test_criteria_stand_beside_probes_and_change_none(data, tmp_path):
    store = ResultStore(str(tmp_path))
    plain = run_trial(tiny(budget=Images(32)), store)
    both = run_trial(tiny(budget=Images(32), criteria=("rotation", "rankme")), store)
    more = {"rotation", "rankme", "collapsed"}
    assert set(both.figures) == {*plain.figures, *more}
    assert plain.figures == {k: v for k, v in both.figures.items() if k not in more}


def test_what_was_not_measured_is_null_in_json_and_nan_in_python():
    trial = tiny(criteria=("lidar",), probes=())
    figures = {"lidar": math.nan, "collapsed": 1.0, "lr": 1e-3}
    outcome = Outcome(trial=trial, fingerprint=trial.fingerprint, figures=figures)
    assert json.loads(outcome.to_json())["figures"]["lidar"] is None
    read = Outcome.from_json(outcome.to_json())
    assert math.isnan(read.figures["lidar"])
    assert read.figures["collapsed"] == 1.0
    assert read.to_json() == outcome.to_json()


def test_names_are_looked_at_before_anything_runs():
    with pytest.raises(ValueError, match="criteria has 'rank'; needs one of rankme, lidar"):
        tiny(criteria=("rank",))
    require_figure([tiny(criteria=("rankme",), probes=())], "rankme")
    with pytest.raises(ValueError, match="no figure 'linear'; it has rankme: --figure rankme"):
        require_figure([tiny(criteria=("rankme",), probes=())], "linear")
    require_figure([tiny(criteria=("rankme",))], "collapsed")
    with pytest.raises(ValueError, match="no figure 'collapsed'; it has knn, linear: --figure knn"):
        require_figure([tiny()], "collapsed")


def test_a_trial_that_reads_no_test_image_has_no_test_figure():
    untested = [tiny(untested=True)]
    require_figure(untested, "knn validation")
    with pytest.raises(ValueError, match=r"no figure 'linear'.*--figure 'knn validation'"):
        require_figure(untested, "linear")
