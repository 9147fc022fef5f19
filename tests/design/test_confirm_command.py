"""counterpoint confirm, as it is typed, on a few images and for a few steps."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from counterpoint.cli import main
from counterpoint.design import confirm_run, finish
from counterpoint.study import ResultStore, dashboard
from counterpoint.study.dashboard import Progress
from counterpoint.study.runners import local
from counterpoint.study.runners.events import Event
from design.confirmations import outcome
from design.searches import pretend_ground, searched, written


def test_a_folder_without_a_search_is_said_at_once(tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["confirm", str(tmp_path)])
    assert "has no design.json; counterpoint design writes one" in str(stop.value)


def test_a_search_without_a_round_is_said_at_once(tmp_path):
    """Version 0.1 wrote the settings before there was a round."""
    settings = searched(rounds=0, size=6, few=2, full=1e9, batch=32).settings
    (tmp_path / "design.json").write_text(settings.to_json())
    with pytest.raises(SystemExit) as stop:
        main(["confirm", str(tmp_path)])
    assert "has no finished candidate; search longer" in str(stop.value)


def test_an_unfinished_round_is_said_before_the_choice(tmp_path, capsys, monkeypatch):
    found = searched(rounds=1, size=6, few=2, full=1e9, batch=32)
    missing = [name for name, rung in found.outcomes if rung == 0][-2:]
    for name in missing:
        del found.outcomes[name, 0]
    assert found.waiting == 2
    out = written(found, tmp_path / "design")
    monkeypatch.setattr(confirm_run, "confirm", lambda *_: [])
    monkeypatch.setattr(finish, "finish_design", lambda folder: folder / "report.html")
    main(["confirm", str(out)])
    assert "2 candidates of the last round were not run." in capsys.readouterr().err


def test_a_trial_that_failed_says_why_and_is_no_success(tmp_path, capsys, monkeypatch):
    out = written(searched(rounds=1, size=6, few=2, full=1e9, batch=32), tmp_path / "design")
    failed = replace(outcome("found 1", 3, linear=0.0), state="failed", error="ValueError: this")
    monkeypatch.setattr(local, "run_local", lambda *_, **__: iter([failed]))
    store = ResultStore(str(tmp_path / "store"))
    monkeypatch.setattr(confirm_run, "confirm", lambda _out, _asked, run: [*run([], store)][1:])
    monkeypatch.setattr(finish, "finish_design", lambda folder: folder / "report.html")
    with pytest.raises(SystemExit) as stop:
        main(["confirm", str(out)])
    assert stop.value.code == 1
    assert "seed 3: failed (ValueError: this)" in capsys.readouterr().err
    diverged = replace(failed, trial=replace(failed.trial, column="heat"))
    monkeypatch.setattr(local, "run_local", lambda *_, **__: iter([diverged]))
    main(["confirm", str(out)])  # of the rates that are tried for a rival, some may fail


def test_the_time_left_is_that_of_trials_on_these_images(tmp_path, capsys, monkeypatch):
    out = written(searched(rounds=1, size=6, few=2, full=1e9, batch=32), tmp_path / "design")
    ended = [outcome("found 1", seed, linear=0.5) for seed in range(3)]
    others = [replace(one.trial, data="others") for one in ended]
    store = ResultStore(str(tmp_path / "store"))
    trials = [one.trial for one in ended]
    store.plan([*others, *trials])

    def run(_trials, _store, *, tell, **_):
        for one in ended:
            for what in ("running", "done"):
                tell(Event(one.trial, what))
                clock.append(600.0)
            yield one

    clock = [0.0]
    monkeypatch.setattr(dashboard, "Progress", partial(Progress, clock=lambda: sum(clock)))
    monkeypatch.setattr(local, "run_local", run)
    monkeypatch.setattr(confirm_run, "confirm", lambda _out, _asked, do: [*do(trials, store)][3:])
    monkeypatch.setattr(finish, "finish_design", lambda folder: folder / "report.html")
    main(["confirm", str(out)])
    said = [line for line in capsys.readouterr().err.splitlines() if " min left" in line]
    left = [int(line.partition("about ")[2].split()[0]) for line in said]
    assert left[-1] == 0
    assert left == sorted(left, reverse=True)


@pytest.mark.full
def test_it_prints_a_table_and_writes_the_report(tmp_path, capsys, monkeypatch):
    pretend_ground(monkeypatch, few=2)
    rng = np.random.default_rng(0)
    images = rng.integers(256, size=(400, 32, 32, 3), dtype=np.uint8)
    np.savez(tmp_path / "photos.npz", images=images, labels=np.arange(400) % 4)
    data = str(tmp_path / "photos.npz")
    found = searched(rounds=1, size=6, few=2, data=data, full=1e9, batch=32)
    out = written(found, tmp_path / "design")
    main(["confirm", str(out), "--top", "1", "--seeds", "1", "--shipped", "1", "--at-once", "1"])
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| photos")]
    assert len(table) == 2 * 2  # by operations and by images, two probes
    assert all("| found 1 |" in line for line in table)
    page = (out / "report.html").read_text()
    assert "Beyond chance after correction, found 1 is ahead in " in page
    assert (out / "method.py").is_file()
