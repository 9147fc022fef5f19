"""A trial runs once, resumes when it was interrupted, and counts what it took."""

import os
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import forked
from counterpoint.framework import Draw, Samples, contrast
from counterpoint.study import (
    Flops,
    Images,
    ResultStore,
    Seconds,
    run_here,
    run_local,
    run_trial,
    step_cost,
    trial_run,
)
from counterpoint.study.supervised import supervised
from counterpoint.study.trial import pairs
from counterpoint.study.trial_job import job_of, opened
from counterpoint.training.cost import step_flops
from counterpoint.training.step import train_step
from study.trials import tiny

OWN = Path(__file__).with_name("crashing.py")


@pytest.fixture(scope="module")
def done(data, tmp_path_factory):
    store = ResultStore(str(tmp_path_factory.mktemp("results")))
    return store, run_trial(tiny(), store)


def test_an_outcome_says_what_was_found_and_what_it_took(done):
    store, outcome = done
    assert set(outcome.figures) == {"knn", "linear", "knn validation", "linear validation", "lr"}
    assert outcome.tested == 240
    assert bin(int(outcome.right["knn"], 16)).count("1") == round(240 * outcome.figures["knn"])
    assert (outcome.cost.images, outcome.cost.steps, outcome.cost.attempts) == (96, 3, 1)
    method = job_of(outcome.trial, opened(outcome.trial)).method
    assert outcome.cost.flops == 3 * step_flops(method, (3, 32, 32), 32)
    assert 0 < outcome.cost.core_seconds < 3 * outcome.cost.seconds + 1
    assert outcome.cost.peak_mb > 50
    assert outcome.versions["torch"]
    assert outcome.method == method.fingerprint
    assert store.every() == [outcome]


def test_what_every_attempt_took_is_counted_also_of_one_that_failed(data, tmp_path):
    swap = f'{{"part":"Crashing","file":"{tmp_path / "count"}","times":1,"how":"raise"}}'
    trial = tiny(parts=str(OWN), swaps=(("extraction", swap),), budget=Images(32), probes=("knn",))
    store = ResultStore(str(tmp_path / "results"))
    (failed,) = run_here([trial], store, retries=0)
    assert failed.state == "failed"
    assert failed.cost.core_seconds > 0
    earlier = store.workplace(trial) / "spent.1"
    earlier.write_text("1000.0 900.0\n")  # as if it had been killed after so long
    (done,) = run_here([trial], store, retries=0)
    assert done.cost.attempts == 2
    assert 1000 < done.cost.seconds < 1300
    assert 900 < done.cost.core_seconds < 1200


def test_a_trial_that_was_done_is_not_run_again(done, monkeypatch):
    store, outcome = done
    monkeypatch.setattr("counterpoint.study.trial_run._run", None)
    assert run_trial(tiny(), store) == outcome
    assert list(run_here([tiny(), tiny()], store)) == []


def test_results_lie_on_any_path_that_fsspec_knows(done, monkeypatch):
    _, outcome = done
    store = ResultStore("memory://some/results")
    store.keep(outcome)
    assert store.find(outcome.trial) == outcome
    assert store.every() == [outcome]
    assert not store.local


def test_half_an_outcome_is_no_outcome(done, tmp_path):
    _, outcome = done
    store = ResultStore(str(tmp_path))
    store.keep(outcome)
    file = tmp_path / outcome.trial.key / "outcome.json"
    file.write_text(file.read_text()[:100])
    assert store.find(outcome.trial) is None
    store.keep(replace(outcome, state="failed"))
    assert store.find(outcome.trial) is None


def test_a_disk_that_is_full_leaves_the_old_plan_and_the_old_outcome(done, tmp_path):
    """The plan was emptied before the new one was written: no table, no study to continue."""
    _, outcome = done
    store = ResultStore(str(tmp_path))
    store.keep(outcome)
    store.plan([outcome.trial])
    before = store.planned()
    files = {*tmp_path.rglob("*")}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # bytes of a file, then it is an error
    try:
        with pytest.raises(OSError, match="File too large"):
            store.plan([outcome.trial] * 3)
        with pytest.raises(OSError, match="File too large"):
            store.keep(replace(outcome, figures={}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.planned() == before
    assert store.every() == [outcome]
    assert {*tmp_path.rglob("*")} == files


def test_a_killed_trial_goes_on_and_ends_with_the_same_figures(data, tmp_path):
    trial = tiny(budget=Images(32 * 40))
    whole = run_trial(trial, ResultStore(str(tmp_path / "whole")))
    store = ResultStore(str(tmp_path / "killed"))
    code = (
        "import functools, counterpoint.study.trial_run as r;"
        "r.pretrain = functools.partial(r.pretrain, save_seconds=0);"
        "import counterpoint.study.runners.worker as w; w.work()"
    )
    command = [sys.executable, "-c", code, store.root, "1"]
    job = forked.Popen(command, stdin=subprocess.PIPE, text=True)
    job.stdin.write(trial.to_json())
    job.stdin.close()
    checkpoints = store.workplace(trial) / "run" / "checkpoints"
    limit = time.monotonic() + 120
    while not list(checkpoints.glob("step-*")) and time.monotonic() < limit:
        time.sleep(0.05)
    job.kill()
    job.wait()
    assert store.find(trial) is None
    assert list(checkpoints.glob("step-*"))
    again = run_trial(trial, store)
    assert again.cost.attempts == 2
    assert (again.figures, again.right) == (whole.figures, whole.right)


def test_a_trial_that_crashes_is_tried_again_and_one_that_always_does_is_recorded(data, tmp_path):
    store = ResultStore(str(tmp_path / "results"))
    swap = '{{"part":"Crashing","file":"{}","times":{},"how":"{}"}}'
    parts = {"parts": str(OWN), "budget": Images(32)}
    trials = [
        tiny(0, swaps=(("extraction", swap.format(tmp_path / "a", 2, "raise")),), **parts),
        tiny(1, swaps=(("extraction", swap.format(tmp_path / "b", 99, "raise")),), **parts),
        tiny(2, budget=Images(32)),
    ]
    said = []
    found = list(run_here(trials, store, retries=2, tell=said.append))
    assert [outcome.state for outcome in found] == ["done", "failed", "done"]
    assert found[0].cost.attempts == 3
    assert "made to crash" in found[1].error
    assert [e.state for e in said].count("again") == 4
    assert [t.fingerprint for t in _todo(trials, store)] == [trials[1].fingerprint]


def test_a_process_that_dies_takes_no_other_with_it(data, tmp_path):
    store = ResultStore(str(tmp_path / "results"))
    swap = f'{{"part":"Crashing","file":"{tmp_path / "a"}","times":1,"how":"exit"}}'
    trials = [
        tiny(0, swaps=(("extraction", swap),), parts=str(OWN), budget=Images(32)),
        tiny(1, budget=Images(32)),
    ]
    found = {o.trial.seed: o for o in run_local(trials, store, at_once=1)}
    assert [found[seed].state for seed in (0, 1)] == ["done", "done"]
    assert found[0].cost.attempts == 2
    here = next(run_here(trials[1:], ResultStore(str(tmp_path / "here"))))
    assert here.figures == found[1].figures


def test_budgets_of_compute_and_time(data, tmp_path):
    store = ResultStore(str(tmp_path))
    flops = step_flops(job_of(tiny(), opened(tiny())).method, (3, 32, 32), 32)
    counted = run_trial(tiny(budget=Flops(2.5 * flops)), store)
    assert (counted.cost.steps, counted.cost.flops) == (2, 2 * flops)
    timed = run_trial(tiny(budget=Seconds(0.2)), store)
    assert timed.cost.steps >= 1


def test_labels_are_asked_for_before_training(tmp_path, monkeypatch):
    np.save(tmp_path / "bare.npy", np.zeros((60, 32, 32, 3), dtype=np.uint8))
    monkeypatch.setattr(trial_run, "pretrain", None)
    asked = tiny(data=str(tmp_path / "bare.npy"), limit=None)
    with pytest.raises(ValueError, match="bare train has no labels; put the images into one"):
        run_trial(asked, ResultStore(str(tmp_path / "results")))
    with pytest.raises(ValueError, match="probes has 'kn'"):
        tiny(probes=("kn",))


def test_a_lucky_step_does_not_set_a_budget_in_seconds(data, monkeypatch):
    takes = iter([9.0, 0.1, *[0.5] * 6])
    clock = [0.0]

    def step(*_, **__):
        clock[0] += next(takes)

    monkeypatch.setattr(step_cost, "train_step", step)
    monkeypatch.setattr(step_cost.time, "perf_counter", lambda: clock[0])
    job = job_of(tiny(), opened(tiny()))
    assert step_cost.step_seconds(job, seconds=3) == pytest.approx(0.5)
    assert next(takes, None) is None  # 3.1 seconds were timed, without the first step


@pytest.mark.parametrize(
    ("precision", "dtype"), [("bf16-mixed", torch.bfloat16), ("64-true", torch.float64)]
)
def test_a_budget_in_seconds_is_timed_as_training_will_be(data, monkeypatch, precision, dtype):
    forms, dtypes = [], set()

    def step(model, *given, **how):
        forms.append(model.encoder._compiled_call_impl is not None)
        model.encoder._compiled_call_impl = None  # compiling takes a minute
        handle = model.encoder.register_forward_hook(lambda *a: dtypes.add(a[2][0][-1].dtype))
        loss = train_step(model, *given, **how)
        handle.remove()
        return loss

    monkeypatch.setattr(step_cost, "train_step", step)
    changes = dict(tiny().training) | {"precision": precision, "compile": True}
    asked = tiny(training=pairs(changes))
    assert step_cost.step_seconds(job_of(asked, opened(asked)), seconds=0) > 0
    assert forms[0]
    assert dtypes == {dtype}


def test_supervised_training_is_cross_entropy(data):
    splits = opened(tiny())
    method = supervised(job_of(tiny(), splits).method, 10)
    torch.manual_seed(0)
    model = method.build(image=(3, 32, 32)).double()
    index = torch.tensor([5, 17, 200, 3])
    with torch.no_grad():
        model.extraction.classes.normal_()
    views = tuple(v.double() for v in model.views(splits.train.images[index], Draw(0, 0, index)))
    vectors = torch.cat([maps[-1].mean(dim=(2, 3)) for maps in model.encoder(views)])
    weight, bias = model.extraction.classes[:, :-1], model.extraction.classes[:, -1]
    labels = splits.train.labels[index]
    wanted = F.cross_entropy(F.linear(vectors, weight, bias), labels.repeat(2))
    found = contrast(model, views, Samples(index, labels))
    assert torch.allclose(found, wanted, atol=1e-12, rtol=0)


def test_the_marks_above_and_below(data, tmp_path):
    store = ResultStore(str(tmp_path))
    taught = run_trial(tiny(kind="supervised", budget=Images(32 * 60)), store)
    untaught = run_trial(tiny(kind="random"), store)
    assert untaught.cost.flops == untaught.cost.images == 0
    assert taught.figures["linear"] > untaught.figures["linear"] - 0.02
    assert taught.cost.images == 32 * 60


def _todo(trials, store):
    return [trial for trial in trials if store.find(trial) is None]


@pytest.fixture(autouse=True)
def _no_own_threads(monkeypatch):
    monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", "1")


def test_an_untested_trial_reads_no_test_image(done, data, tmp_path, monkeypatch):
    _, tested = done
    splits = opened(tiny())
    without = replace(splits, test=splits.test.first(0))
    monkeypatch.setattr("counterpoint.study.trial_run.opened", lambda _: without)
    asked = tiny(untested=True)
    found = run_trial(asked, ResultStore(str(tmp_path)))
    assert found.tested == 0
    assert found.right == {}
    names = ("knn validation", "linear validation", "lr")
    assert found.figures == {name: tested.figures[name] for name in names}
    assert asked.fingerprint != tiny().fingerprint
    assert '"untested"' not in tiny().to_json()
