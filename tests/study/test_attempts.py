"""What is run again: a trial that raised, and apart from that one whose process died."""

import pytest

from counterpoint.study import Outcome, ResultStore
from counterpoint.study.runners.attempts import ProcessDied, TrialFailed, attempt
from counterpoint.study.runners.events import nobody
from study.trials import tiny


@pytest.mark.parametrize(
    ("ends", "state", "ran"),
    [
        ([ProcessDied, ProcessDied], "done", 3),
        ([ProcessDied, ProcessDied, ProcessDied], "failed", 3),
        ([TrialFailed], "failed", 1),
        ([ProcessDied, TrialFailed], "failed", 2),
    ],
)
def test_a_death_is_not_the_fault_of_its_trial(tmp_path, ends, state, ran):
    trial, left, runs = tiny(), list(ends), []

    def run():
        runs.append(trial)
        if left:
            raise left.pop(0)("it ended")
        return Outcome(trial=trial, fingerprint=trial.fingerprint)

    store = ResultStore(str(tmp_path))
    found = attempt(trial, store, run, retries=0, deaths=2, tell=nobody)
    assert (found.state, len(runs)) == (state, ran)
