"""scripts/curves: equal commits are equal to the bit, and a changed loss is told."""

import os
import signal
import subprocess
import sys
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

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
    finally:
        running.kill()
    assert "counterpoint-curves-" not in worktrees()


STOPPED_IN_GIT = """
import signal, sys
from importlib.machinery import SourceFileLoader
curves = SourceFileLoader("curves", sys.argv[1]).load_module()
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
curves.git("-c", "alias.slow=!touch $0/begun; sleep 1; touch $0/ended;:", "slow")
"""


def test_a_signal_waits_for_what_git_started(tmp_path):
    code = STOPPED_IN_GIT.replace("$0", str(tmp_path))
    running = subprocess.Popen([sys.executable, "-c", code, ROOT / "scripts/curves"])
    try:
        while not (tmp_path / "begun").exists() and running.poll() is None:
            time.sleep(0.02)
        running.terminate()
        assert running.wait(60) == 128 + signal.SIGTERM
        assert (tmp_path / "ended").exists()
    finally:
        running.kill()


def worktrees():
    return subprocess.run(
        ["git", "worktree", "list"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
