"""counterpoint study and counterpoint table, as typed in docs/studies.md."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import forked
from counterpoint.cli import main
from counterpoint.study import ResultStore
from study.trials import outcome

CRASHING = str(Path(__file__).with_name("crashing.py"))
MINE = """
from counterpoint.study import Images, Trial, seeds

ENCODER = '{"part":"NarrowResNet","widths":[8,16],"blocks":[1,1]}'


def study():
    return seeds(
        Trial(
            name="mine",
            method="simclr-small",
            encoder=ENCODER,
            data="$COUNTERPOINT_DATA/cifar10",
            limit=240,
            budget=Images(64),
            training=(("batch", 32),),
            row="SimCLR",
            column="CIFAR-10",
        ),
        2,
    )
"""


def test_a_study_of_ones_own_and_its_table(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERPOINT_DATA", str(data))
    (tmp_path / "mine.py").write_text(MINE)
    command = ["study", "mine.py", "--out", "results", "--at-once", "1"]
    main([*command, "--plan"])
    assert "2 trials at" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()
    main(command)
    said = capsys.readouterr()
    assert "running mine.py" in said.err
    assert said.err.count(": done") == 2
    assert "| SimCLR |" in said.out
    main(command)
    again = capsys.readouterr()
    assert again.err.count(": done") == 0
    assert again.out == said.out
    main(["table", "results"])
    assert capsys.readouterr().out == said.out
    main(["table", "results", "--format", "svg", "--out", "table.svg"])
    assert (tmp_path / "table.svg").read_text().startswith("<svg")
    main(["table", "results", "--format", "json", "--out", "all.json"])
    main(["table", "all.json"])
    assert capsys.readouterr().out == said.out


def test_a_trial_runs_nothing_from_the_current_folder(data, tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace("        2,\n", "        1,\n"))
    for name in ("torch", "lightning", "numpy"):
        (tmp_path / f"{name}.py").write_text(f"open('{name} was run', 'w')\nraise SystemExit(3)\n")
    typed = "import sys; sys.path.remove(''); from counterpoint.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", typed, "study", "mine.py", "--out", "results", "--retries", "0"],
        cwd=tmp_path,
        env=os.environ | {"COUNTERPOINT_DATA": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not list(tmp_path.glob("* was run")), done.stderr
    assert done.returncode == 0, done.stderr
    assert "| SimCLR |" in done.stdout


def test_a_figure_that_no_trial_has_is_refused_before_the_first(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    with pytest.raises(SystemExit, match=r"will have no figure 'mlp'; it has knn.*--figure knn"):
        main(["study", "mine.py", "--out", "results", "--figure", "mlp"])
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("named", ["{0}/far/mine.py", "../far/mine.py", "mine.py"])
def test_results_of_a_file_lie_below_runs_wherever_the_file_is(named, tmp_path, monkeypatch):
    for folder in ("far", "here"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("counterpoint.study.runners.local.run_local", lambda *_, **__: iter(()))
    main(["study", named.format(tmp_path)])
    assert [plan.relative_to(tmp_path) for plan in tmp_path.rglob("study.json")] == [
        Path("here/runs/mine-small/study.json")
    ]


def test_a_trial_that_failed_says_why_and_where_its_trace_is(data, tmp_path, monkeypatch, capsys):
    """It said "failed", and the trace of an error in a user's own part was nowhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERPOINT_DATA", str(data))
    swap = json.dumps({"part": "Crashing", "file": str(tmp_path / "a"), "times": 9, "how": "raise"})
    failing = f'parts={CRASHING!r}, swaps=(("extraction", {swap!r}),)'
    (tmp_path / "mine.py").write_text(MINE.replace("row=", f"{failing}, row="))
    with pytest.raises(SystemExit):
        main(["study", "mine.py", "--out", "results", "--retries", "0", "--seeds", "1"])
    said = capsys.readouterr()
    assert "1 trial failed and is left out." in said.out
    (line,) = [one for one in said.err.splitlines() if " failed: " in one]
    assert "made to crash; its log: " in line
    log = Path(line.partition("its log: ")[2]).read_text()
    assert "crashing.py" in log
    assert log.rstrip().endswith("made to crash")


def test_the_first_seed_of_a_study_whose_seeds_begin_at_one(tmp_path, monkeypatch, capsys):
    """It was none: a plan had nothing to add up, and a study was overwritten by an empty one."""
    monkeypatch.chdir(tmp_path)
    from_one = MINE.replace("return seeds(", "return [replace(t, seed=t.seed + 1) for t in seeds(")
    from_one = from_one.replace("        2,\n    )", "        3,\n    )]")
    (tmp_path / "mine.py").write_text(f"from dataclasses import replace\n{from_one}")
    main(["study", "mine.py", "--plan", "--speed", "1", "--seeds", "1"])
    assert "1 trials at" in capsys.readouterr().out


def test_the_next_command_is_what_was_planned(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    asked = ["study", "mine.py", "--scale", "paper", "--seeds", "1", "--images", "128"]
    asked += ["--cpus", "2", "--figure", "knn", "--compare", "row"]
    main([*asked, "--plan", "--speed", "1"])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"next: counterpoint {' '.join(asked)}"


def test_a_study_file_without_trials_is_refused_and_keeps_the_plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def study():\n    return []\n")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "study.json").write_text("kept")
    for more in (["--plan"], []):
        with pytest.raises(SystemExit, match=r"study\(\) of mine.py gave no trials"):
            main(["study", "mine.py", "--out", "results", *more])
    assert (tmp_path / "results" / "study.json").read_text() == "kept"


def test_a_study_that_asks_for_something_is_told_that_it_gets_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def study(scale, *rest, seeds=3):\n    return []\n")
    with pytest.raises(SystemExit, match=r"study\(\) of mine.py needs scale; .* a default"):
        main(["study", "mine.py", "--out", "results"])


def test_a_table_of_another_file_and_into_a_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store, one = ResultStore("results"), outcome("a", "x", 0, 0.5)
    store.keep(one)
    store.plan([one.trial])
    for file in ("study.json", f"{one.trial.key}/outcome.json"):
        with pytest.raises(SystemExit, match="is not a study in one file; give the folder"):
            main(["table", f"results/{file}"])
    main(["table", "results", "--format", "csv", "--out", "new/folder/table.csv"])
    assert (tmp_path / "new/folder/table.csv").read_text().startswith("row,column,")


def ctrl_c(job):
    os.killpg(job.pid, signal.SIGINT)  # a terminal tells the whole group


def preempt(job):
    job.terminate()  # a cluster may tell only the process that it started


@pytest.mark.parametrize(("stop", "code"), [(ctrl_c, 130), (preempt, 143)])
def test_a_study_that_is_stopped_stops_its_trials(data, tmp_path, stop, code):
    long = MINE.replace("Images(64)", "Images(32 * 4000)").replace("        2,\n", "        1,\n")
    (tmp_path / "mine.py").write_text(long)
    typed = "from counterpoint.cli import main; main(['study', 'mine.py', '--out', 'results'])"
    job = forked.Popen(
        [sys.executable, "-c", typed],
        cwd=tmp_path,
        env=os.environ | {"COUNTERPOINT_DATA": str(data)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of its own
    )
    limit = time.monotonic() + 200
    while not list(tmp_path.glob("results/*/run/metrics.csv")) and time.monotonic() < limit:
        time.sleep(0.1)
    stop(job)
    said = job.communicate(timeout=100)[1]
    assert job.returncode == code, said
    assert "run the same command again to resume" in said
    with pytest.raises(ProcessLookupError):
        os.killpg(job.pid, 0)  # nobody is left
    assert list(tmp_path.glob("results/*/run/checkpoints/step-*"))
    assert [len(f.read_text().splitlines()) for f in tmp_path.glob("results/*/attempts")] == [1]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["study", "table4"], "study: got 'table4'; there are table1"),
        (["study", "no.py"], "study: there is no file no.py"),
        (["table", "nowhere"], "study: there is no folder nowhere"),
    ],
)
def test_a_mistake_is_one_line(typed, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=said):
        main(typed)
