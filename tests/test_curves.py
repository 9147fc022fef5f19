"""scripts/curves: equal commits are equal to the bit, and a changed loss is told."""

import os
import signal
import subprocess
import sys
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOADER = SourceFileLoader("curves", str(ROOT / "scripts/curves"))
curves = module_from_spec(spec_from_loader("curves", LOADER))
LOADER.exec_module(curves)


def test_a_commit_beside_this_tree(data):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/curves", "HEAD", "--methods", "simclr-small"],
        env=os.environ | {"COUNTERPOINT_DATA": str(data), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("equal to the bit") == 3
    assert "counterpoint-curves-" not in worktrees()


def test_a_changed_loss_is_told(capsys):
    before = {"simclr": {"float64": [2.0, 1.0], "bf16": [2.0]}}
    after = {"simclr": {"float64": [2.0, 1.5], "bf16": [2.0]}}
    assert curves.print_table("main", before, after) == 1
    assert "from step 2 on, at most 5.0e-01" in capsys.readouterr().out
    assert curves.print_table("main", before, {}) == 2


def test_a_commit_that_is_not_there(data):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/curves", "no-such-commit"],
        env=os.environ | {"COUNTERPOINT_DATA": str(data)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("curves: ")


def test_ended_from_outside_it_leaves_no_worktree(data):
    running = subprocess.Popen(
        [sys.executable, ROOT / "scripts/curves", "HEAD"],
        env=os.environ | {"COUNTERPOINT_DATA": str(data)},
    )
    try:
        while "counterpoint-curves-" not in worktrees() and running.poll() is None:
            time.sleep(0.05)
        running.terminate()
        assert running.wait(60) == 128 + signal.SIGTERM
    finally:  # not killed: it tidies up, also where the test fails
        running.terminate()
        running.wait(60)
    assert "counterpoint-curves-" not in worktrees()


STOPPED_IN_GIT = """
import signal, sys
from importlib.machinery import SourceFileLoader
curves = SourceFileLoader("curves", sys.argv[1]).load_module()
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
wait = "while [ ! -e $0/go ]; do sleep 0.02; done"
curves.git("-c", f"alias.slow=!touch $0/begun; {wait}; touch $0/ended;:", "slow")
"""


def test_a_signal_waits_for_what_git_started(tmp_path):
    code = STOPPED_IN_GIT.replace("$0", str(tmp_path))
    running = subprocess.Popen([sys.executable, "-c", code, ROOT / "scripts/curves"])
    try:
        while not (tmp_path / "begun").exists() and running.poll() is None:
            time.sleep(0.02)
        running.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(1)
        (tmp_path / "go").touch()
        assert running.wait(60) == 128 + signal.SIGTERM
        assert (tmp_path / "ended").exists()
    finally:
        (tmp_path / "go").touch()
        running.kill()


STOPPED_TIDYING = """
import os, signal, subprocess, sys
from importlib.machinery import SourceFileLoader
curves = SourceFileLoader("curves", sys.argv[1]).load_module()
curves.losses = lambda *_: {}
run = subprocess.run
def told_to_stop(words, **how):
    if "remove" in words:
        os.kill(os.getpid(), signal.SIGTERM)
    return run(words, **how)
curves.subprocess.run = told_to_stop
sys.argv[1:] = ["HEAD"]
curves.main()
"""


def test_a_signal_waits_until_the_worktree_is_removed(data):
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_TIDYING, ROOT / "scripts/curves"],
        env=os.environ | {"COUNTERPOINT_DATA": str(data)},
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert "counterpoint-curves-" not in worktrees()


def worktrees():
    for _ in range(50):  # it fails while another git has half made one
        done = subprocess.run(["git", "worktree", "list"], cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout
        time.sleep(0.02)
    raise AssertionError(done.stderr)
