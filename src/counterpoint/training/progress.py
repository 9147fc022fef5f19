"""Progress: a bar on a terminal, one plain line every N steps in a file."""

import sys
import time
from dataclasses import dataclass
from typing import Any

import lightning as L
from lightning.pytorch.callbacks import Callback
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from counterpoint.data.progress import Stream, clock


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

    def remaining(self, now: float, steps: int) -> float:
        return (now - self.started) / max(self.steps, 1) * (steps - self.steps)


class ProgressLines(Callback):
    """Say where a run is: loss, images per second, share of waiting and time left."""

    def __init__(self, *, steps: int, every: int = 50, stream: Stream | None = None) -> None:
        self.steps, self.every = steps, every
        self.stream: Stream = stream or sys.stderr
        self.pace = Pace(time.monotonic())
        self.left = time.monotonic()
        self.bar: Progress | None = None

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.pace = Pace(time.monotonic())
        self.left = self.pace.started
        if trainer.is_global_zero and self.stream.isatty():
            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                transient=True,
            )
            self.bar.add_task("starting", total=self.steps)
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
        self.pace.images += len(batch[1]) * trainer.world_size
        self.pace.steps += 1
        last = self.pace.steps == self.steps
        if trainer.is_global_zero and (self.pace.steps % self.every == 0 or last):
            self.say(self.line(trainer.current_epoch, float(outputs["loss"]), self.left))
        elif self.bar is not None:
            self.bar.advance(self.bar.task_ids[0])

    def line(self, epoch: int, loss: float, now: float) -> str:
        """Write one line, readable in a log and by a program."""
        pace = self.pace
        return (
            f"step {pace.steps}/{self.steps}  epoch {epoch + 1}  loss {loss:.4f}  "
            f"{pace.images_per_second(now):.0f} images/s  waiting {pace.waiting(now):.0%}  "
            f"left {clock(pace.remaining(now, self.steps))}"
        )

    def say(self, line: str) -> None:
        """Move the bar, or write the line where there is none."""
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=self.pace.steps, description=line)
        else:
            self.stream.write(line + "\n")
            self.stream.flush()

    def teardown(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        if self.bar is not None:
            self.bar.stop()
