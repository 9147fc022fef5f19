"""A run of two processes that can be met in the middle, and what it leaves behind."""

import contextlib
import csv
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from counterpoint.methods.simclr import simclr_small
from counterpoint.parts.encoders import NarrowResNet
from reliability.nursery import free_port

BIN = Path(sys.executable).parent
PARTS = Path(__file__).with_name("paced.py")
SLOW = 0.3  # seconds of a step while somebody waits for the run
LATE = 240  # seconds after which a run that does not come is a failure, also on a busy machine


class PacedRun:
    """A folder with images, a method, and the runs that are made of them."""

    def __init__(self, folder, images, *, steps=40):
        self.folder, self.steps = folder, steps
        self.pace = folder / "pace"
        np.save(folder / "images.npy", images[:64].numpy())
        method = simclr_small(NarrowResNet(widths=(8, 16), blocks=(1, 1), stride=2))
        record = json.loads(method.to_json()) | {"loss": {"part": "PacedNCE"}}
        (folder / "method.json").write_text(json.dumps(record))
        self.variables = {
            "PACE": str(self.pace),
            "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": "lo",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        self.environment = os.environ | self.variables

    def command(self, out, *more):
        words = ["pretrain", "images.npy", "--method", "method.json", "--parts", str(PARTS)]
        words += ["--batch-size", "32", "--steps", str(self.steps), "--workers", "0"]
        return [*words, "--save-seconds", "0", "--patience", "30", "--out", out, *more]

    def slow(self, seconds=SLOW):
        self.pace.write_text(str(seconds))

    def fast(self):
        self.pace.unlink(missing_ok=True)

    def step(self, out):
        """The newest step that is in a checkpoint."""
        names = [0]
        with contextlib.suppress(OSError):
            found = (self.folder / out / "checkpoints").glob("step-*")
            names += [int(place.name.partition("-")[2]) for place in found]
        return max(names)

    def reach(self, out, step, said=lambda: "", alive=lambda: True):
        """Wait until a run has made some steps."""
        end = time.monotonic() + LATE
        while self.step(out) < step:
            assert alive(), said()
            assert time.monotonic() < end, f"step {self.step(out)}, not {step}: {said()}"
            time.sleep(0.1)

    def undisturbed(self, out="undisturbed"):
        """Run it without anybody in its way, on as many processes."""
        launch = [BIN / "torchrun", "--nproc-per-node", "2", "--master-port", str(free_port())]
        done = subprocess.run(
            [*launch, BIN / "counterpoint", *self.command(out)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LATE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return self.left(out)

    def left(self, out):
        """Every loss, and what the weights and receipts hash to."""
        run = self.folder / out
        with (run / "metrics.csv").open() as file:
            losses = [(row["step"], row["loss"]) for row in csv.DictReader(file)]
        assert len(losses) >= self.steps // 2, losses
        assert int(losses[-1][0]) == self.steps
        files = ("model.safetensors", "receipts.jsonl", "metrics.csv")
        hashes = {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in files}
        return losses, hashes
