"""Progress: a bar on a terminal, one plain line every N steps or seconds in a file."""

import sys
import time
from dataclasses import dataclass
from typing import Any

import lightning as L
from lightning.pytorch.callbacks import Callback
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from counterpoint.progress import TextStream, clock
from counterpoint.training.callbacks.metrics import MetricRows
from counterpoint.training.pretrainer import Pretrainer

SECONDS = 20.0  # between two lines of a run that is slow
TASK = TaskID(0)  # the only one of a bar


@dataclass(slots=True)
class Pace:
    """How fast a run is, and the share of its time spent waiting for data."""

    started: float
    waited: float = 0.0
    images: int = 0
    steps: int = 0

    def images_per_second(self, now: float) -> float:
        return self.images / max(now - self.started, 1e-9)

    def waiting(self, now: float) -> float:
        return self.waited / max(now - self.started, 1e-9)

    def words(self, now: float) -> str:
        return f"{self.images_per_second(now):.0f} images/s  waiting {self.waiting(now):.0%}"

    def remaining(self, now: float, steps: int) -> float:
        """Return the seconds that so many more steps will take."""
        return (now - self.started) / max(self.steps, 1) * steps


class ProgressLines(Callback):
    """Say where a run is: loss, images per second, share of waiting and time left.

    It comes after `metrics`, whose loss it says where a step has a row: reading it again would be
    another wait for the device.
    """

    def __init__(
        self, metrics: MetricRows, *, steps: int, every: int = 50, stream: TextStream | None = None
    ) -> None:
        self.metrics, self.steps, self.every = metrics, steps, every
        self.stream: TextStream = stream or sys.stderr
        self.pace = Pace(time.monotonic())
        self.left = time.monotonic()
        self.said = self.left
        self.bar: Progress | None = None
        self.line = ""

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.pace = Pace(time.monotonic())
        self.left = self.said = self.pace.started
        if trainer.is_global_zero and self.stream.isatty():
            self.bar = _bar(self.steps)
            self.bar.start()

    def on_train_batch_start(
        self, trainer: L.Trainer, pl_module: L.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        self.pace.waited += time.monotonic() - self.left

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        self.left = time.monotonic()
        pace = self.pace
        pace.images += len(batch.index) * trainer.world_size
        if trainer.fit_loop._should_accumulate():
            return
        pace.steps += 1
        step = trainer.global_step
        if self.bar is not None:
            self.bar.update(TASK, completed=step, pace=pace.words(self.left))
        # The loss is read now and then only: on a GPU reading it waits for the step to end.
        late = self.left - self.said >= SECONDS
        if trainer.is_global_zero and (step % self.every == 0 or step == self.steps or late):
            assert isinstance(pl_module, Pretrainer)
            self.said = self.left
            read, loss = self.metrics.latest
            loss = loss if read == step else float(pl_module.loss_of_update)
            self.say(step, trainer.current_epoch + 1, loss)

    def say(self, done: int, epoch: int, loss: float) -> None:
        """Put the loss beside the bar, or write a line that people and programs can read."""
        where = f"epoch {epoch}  loss {loss:.4f}"
        left = clock(self.pace.remaining(self.left, self.steps - done))
        step = f"step {done}/{self.steps}"
        self.line = f"{step}  {where}  {self.pace.words(self.left)}  left {left}\n"
        if self.bar is not None:
            self.bar.update(TASK, description=where)
        else:
            self.stream.write(self.line)
            self.stream.flush()

    def teardown(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        if self.bar is not None:  # it vanishes; its last line stays
            self.bar.stop()
            self.stream.write(self.line)
            self.bar = None


def _bar(steps: int) -> Progress:
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        expand=True,
        transient=True,
    )
    bar.add_task("starting", total=steps, pace="")
    return bar
