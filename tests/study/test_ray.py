"""A study on a real cluster of several nodes, whose nodes are killed while it works."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from counterpoint.study import Images, ResultStore, run_here
from counterpoint.study.tables.formats import as_csv, latex, markdown
from counterpoint.study.tables.outcome_table import tabulate
from ray_nodes import added_node, kill_busy_node, three_nodes
from study.trials import tiny

pytest.importorskip("ray", reason="ray is not installed: pip install 'counterpoint[ray]'")
from counterpoint.study.runners.ray_tasks import run_ray

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own, of its start and of nodes that die
]
COUNTERPOINT = Path(sys.executable).parent / "counterpoint"
OWN = Path(__file__).with_name("crashing.py")


@pytest.fixture(scope="module")
def nodes():
    """A cluster for all of these tests: it and its processes take long to start."""
    with pytest.MonkeyPatch.context() as patch:
        yield from three_nodes(patch)


@pytest.fixture
def cluster(nodes):
    """A head without room for tasks, and three nodes of one slot each."""
    while len(nodes.workers) < 3:  # some were killed
        nodes.workers.append(added_node(nodes, slots=1))
    return nodes


def study(tmp_path):
    """24 trials: four rates, two depths, three seeds; one of them crashes twice."""
    swap = '{{"part":"Crashing","file":"{}","times":{},"how":"raise"}}'
    other = '{"part":"NarrowResNet","widths":[8,16,16],"blocks":[1,1,1],"stride":2}'
    trials = [
        tiny(seed, lr, column=column, budget=Images(32 * 12), **encoder)
        for seed in range(3)
        for lr in (3e-4, 1e-3, 3e-3, 1e-2)
        for column, encoder in (("two", {}), ("three", {"encoder": other}))
    ]
    crashing = (("extraction", swap.format(tmp_path / "crashes", 2)),)
    trials[5] = tiny(
        0,
        3e-3,
        column="three",
        encoder=other,
        budget=Images(32 * 12),
        swaps=crashing,
        parts=str(OWN),
        row="crashing",
    )
    return trials


@pytest.mark.full
def test_24_trials_on_three_nodes_of_which_two_are_killed(data, tmp_path, cluster):
    trials = study(tmp_path)
    assert len({trial.fingerprint for trial in trials}) == 24
    said = survives(trials, tmp_path, cluster, kill_after=(4, 10))
    assert most_at_once(said) <= 6  # room for three, two in flight for each


def test_six_trials_on_three_nodes_of_which_one_is_killed(data, tmp_path, cluster):
    """The same with what a minute allows; the crashing trial is among them."""
    survives(study(tmp_path)[:6], tmp_path, cluster, kill_after=(2,))


def survives(trials, tmp_path, cluster, *, kill_after):
    """Run trials while nodes die; nothing is lost, twice, or different from a run here."""
    store = ResultStore(str(tmp_path / "ray"))
    said, killed, one_at_a_time = [], [], threading.Lock()

    def kill_when(count):
        """Kill a node in the middle of a trial, as a machine that loses its power."""
        while sum(e.state == "done" for e in said) < count:
            time.sleep(0.05)
        with one_at_a_time:
            cluster.workers.remove(kill_busy_node(cluster.workers, "_run"))
            killed.append(count)

    killers = [threading.Thread(target=kill_when, args=(n,), daemon=True) for n in kill_after]
    for killer in killers:
        killer.start()
    found = list(run_ray(trials, store, retries=2, tell=said.append))
    assert len(killed) == len(kill_after)
    assert len(found) == len(trials)
    assert {outcome.state for outcome in found} == {"done"}
    again = [event for event in said if event.state == "again"]
    assert sum("made to crash" in event.why for event in again) == 2
    assert len(again) >= 3, "no trial was lost with its node"

    repeated = []
    assert list(run_ray(trials, store, tell=repeated.append)) == []
    assert {event.state for event in repeated} == {"done"}

    here = ResultStore(str(tmp_path / "here"))
    assert len(list(run_here(trials, here))) == len(trials)
    planned = [(trial.fingerprint, trial) for trial in trials]
    tables = [tabulate(s.every(), planned=planned, figure="linear") for s in (store, here)]
    for form in (markdown, latex, as_csv):
        assert form(tables[0]) == form(tables[1])
    return said


def test_the_command_runs_on_a_cluster(data, tmp_path, cluster):
    file = tmp_path / "mine.py"
    file.write_text(
        "from study.trials import tiny\n\n\ndef study():\n    return [tiny(0), tiny(1)]\n"
    )
    (tmp_path / "torch.py").write_text(f"open({str(tmp_path / 'torch was run')!r}, 'w')\n")
    command = [COUNTERPOINT, "study", str(file), "--runner", "ray"]
    done = subprocess.run(
        [*command, "--address", cluster.address, "--out", str(tmp_path / "out")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (tmp_path / "torch was run").exists(), "code of the current folder was run"
    assert done.returncode == 0, done.stderr
    assert "over 2 seeds" in done.stdout
    assert len(ResultStore(str(tmp_path / "out")).every()) == 2


def test_a_trial_that_always_fails_does_not_stop_the_others(data, tmp_path, cluster):
    swap = f'{{"part":"Crashing","file":"{tmp_path / "x"}","times":99,"how":"exit"}}'
    bad = tiny(0, budget=Images(32), swaps=(("extraction", "(-1:-9)"),))
    dying = tiny(1, budget=Images(32), swaps=(("extraction", swap),), parts=str(OWN))
    found = {}
    for outcome in run_ray(
        [bad, dying, tiny(2)], ResultStore(str(tmp_path / "r")), retries=1, deaths=1
    ):
        found[outcome.trial.seed] = outcome
    assert [found[seed].state for seed in range(3)] == ["failed", "failed", "done"]
    assert "(-1:-9)" in found[0].error


def most_at_once(said):
    flying, most = 0, 0
    for event in said:
        flying += (event.state == "running") - (event.state in ("again", "done", "failed"))
        most = max(most, flying)
    return most
