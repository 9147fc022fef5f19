"""The command: going on, refusing to mix runs up, and torchrun."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import forked
from counterpoint.training.checkpoints import Checkpoints
from reliability.nursery import free_port

BIN = Path(sys.executable).parent
SMALL = ["--method", "simclr", "--encoder", "small", "--limit", "256", "--batch-size", "32"]


def command(data, out, *more):
    return [BIN / "counterpoint", "pretrain", data / "cifar10", *SMALL, "--out", out, *more]


def run(arguments, **more):
    done = forked.run(arguments, capture_output=True, text=True, timeout=180, **more)
    return done.returncode, done.stdout + done.stderr


def steps(text):
    return [line.split()[1] for line in text.splitlines() if line.startswith("step ")]


@pytest.fixture(scope="module")
def finished(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("finished") / "run"
    code, said = run(command(data, out, "--steps", "3", "--resume", "auto"))
    assert code == 0, said
    assert "checkpoint" not in said  # silent on a first run
    return out


def test_a_finished_run_is_not_trained_again(data, finished):
    before = (finished / "model.safetensors").read_bytes()
    code, said = run(command(data, finished, "--steps", "3", "--resume", "auto"))
    assert code == 0, said
    assert not steps(said)
    assert (finished / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--steps", "3"], "already holds a run, at step-00000003; --resume auto continues"),
        (["--steps", "9", "--resume", "auto"], "steps was 3 and is 9"),
        (["--steps", "3", "--seed", "5", "--resume", "auto"], "training.seed was 0 and is 5"),
    ],
)
def test_runs_are_not_mixed_up(data, finished, more, complaint):
    code, said = run(command(data, finished, *more))
    assert code == 1
    assert complaint in " ".join(said.split()), said
    assert "Traceback" not in said


def test_the_same_command_under_torchrun_and_a_signal_to_all_of_it(data, tmp_path):
    port = str(free_port())
    launch = [BIN / "torchrun", "--nproc-per-node", "2", "--master-port", port]
    process = subprocess.Popen(
        [*launch, *command(data, tmp_path / "run", "--epochs", "500", "--resume", "auto")],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
    )
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith("step "):
            break
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)  # torchrun passes it on to both ranks
    said.append(process.communicate(timeout=90)[1])
    assert process.returncode != 0
    kept = Checkpoints(tmp_path / "run" / "checkpoints").newest()
    assert kept is not None, "".join(said)
    assert "--resume auto" in "".join(said)
