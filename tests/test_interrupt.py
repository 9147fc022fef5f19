"""Ctrl-C keeps what was learned."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from counterpoint import Run

COUNTERPOINT = Path(sys.executable).with_name("counterpoint")


def test_ctrl_c_saves_and_says_where(data, tmp_path):
    command = [
        COUNTERPOINT,
        "pretrain",
        data / "cifar10",
        "--encoder",
        "small",
        "--batch-size",
        "32",
    ]
    process = subprocess.Popen(
        [*command, "--out", tmp_path / "run"],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COUNTERPOINT_DATA": str(data)},
        # A shell's background jobs ignore Ctrl-C, and so would this one if tests run in such a job.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    said = []
    for line in process.stderr:  # wait for the first line of progress
        said.append(line)
        if line.startswith("step "):
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=60)[1]
    assert process.returncode == 130, "".join(said) + rest
    assert "what was learned is in" in rest
    assert Run.open(tmp_path / "run").embed(_three_images()).shape == (3, 256)


def _three_images():
    import torch

    return torch.zeros(3, 3, 32, 32, dtype=torch.uint8)
