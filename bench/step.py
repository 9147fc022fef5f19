"""A training step through the Lightning shell against the same modules in a bare loop.

Rounds of both alternate in one process; each round times whole steps, views included, after a
step of warm-up.
"""

import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import lightning as L
import torch

from bench.report import Bar, finish
from counterpoint.data import ArraySource, Batches
from counterpoint.framework import Draw, contrast
from counterpoint.framework.settings import Training
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.training.callbacks.metrics import MetricRows
from counterpoint.training.callbacks.progress_lines import ProgressLines
from counterpoint.training.optimisers import optimiser, rate
from counterpoint.training.pretrainer import Pretrainer

STEPS, ROUNDS = 10, 7
TRAINING = Training(batch=128)


class Clock(L.Callback):
    """The time of each step, from its data to its end."""

    def __init__(self) -> None:
        self.marks: list[float] = []

    def on_train_batch_end(self, *_: Any) -> None:
        self.marks.append(time.perf_counter())


def source() -> ArraySource:
    torch.manual_seed(0)
    return ArraySource("noise", torch.randint(256, (2048, 3, 32, 32), dtype=torch.uint8))


def shell(model: Any, batches: Batches) -> list[float]:
    clock = Clock()
    rows = MetricRows(Path(tempfile.mkdtemp()), every=STEPS + 1)
    trainer = L.Trainer(
        max_steps=STEPS + 1,
        callbacks=[rows, ProgressLines(rows, steps=STEPS + 1), clock],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        accelerator="cpu",
    )
    trainer.fit(Pretrainer(model, batches.source, TRAINING, steps=100))
    return [b - a for a, b in pairwise(clock.marks)]


def bare(model: Any, batches: Batches) -> list[float]:
    chosen = optimiser(model, TRAINING)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        chosen, lambda step: rate(step, TRAINING, steps=100)
    )
    marks = []
    for step, (images, index, _) in enumerate(batches):
        loss = contrast(model, model.views(images, Draw(0, 0, index)), index)
        chosen.zero_grad()
        loss.backward()
        chosen.step()
        schedule.step()
        marks.append(time.perf_counter())
        if step == STEPS:
            break
    return [b - a for a, b in pairwise(marks)]


def main() -> None:
    batches = Batches(source(), batch=TRAINING.batch, seed=0)
    model = simclr(NarrowResNet(widths=(32, 64, 128), blocks=(1, 1, 1))).build(image=(3, 32, 32))
    times: dict[str, list[float]] = {"shell": [], "bare": []}
    shell(model, batches)
    for _ in range(ROUNDS):
        times["bare"] += bare(model, batches)
        times["shell"] += shell(model, batches)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    figures = {f"{name}, ms": 1000 * value for name, value in medians.items()}
    bars = [Bar("a step: time, of the bare loop's", medians["shell"] / medians["bare"], 1.05)]
    finish("step", figures | {"steps": float(STEPS * ROUNDS)}, bars)


if __name__ == "__main__":
    main()
