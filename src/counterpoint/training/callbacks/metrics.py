"""The loss as rows of a CSV file, which a run that resumes continues."""

import csv
import io
from pathlib import Path
from typing import Any

import lightning as L
from lightning.pytorch.callbacks import Callback

from counterpoint.log_lines import Log
from counterpoint.run_files import METRICS
from counterpoint.training.optimisers import rate
from counterpoint.training.pretrainer import Pretrainer

COLUMNS = ("epoch", "loss", "step", "lr")
EVERY = 50  # steps between two rows of a long run
FIRST = 50  # steps that have a row each: a short run is a curve too


class MetricRows(Callback):
    """Append a row to `metrics.csv` now and then, before a checkpoint of that step is written.

    Lightning's own CSV logger deletes what an earlier part of the run has written, and writes
    the row of a step after its checkpoint.
    """

    def __init__(self, folder: Path, *, every: int) -> None:
        self.lines, self.every = Log(folder / METRICS), every
        self.latest = (0, 0.0)
        """The step of the last row, and its loss."""

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.is_global_zero:
            rows = self.lines.read(_row, header=_line(COLUMNS).strip())
            old = [line for step, line in rows if step <= trainer.global_step]
            self.lines.rewrite("".join([_line(COLUMNS), *old]))

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        step = trainer.global_step
        if step > FIRST and step % self.every and step != trainer.max_steps:
            return
        if trainer.fit_loop._should_accumulate():
            return
        assert isinstance(pl_module, Pretrainer)
        world, training = pl_module.world, pl_module.training_settings
        loss = float(world.total(pl_module.loss_of_update)) / world.size
        self.latest = (step, loss)
        if trainer.is_global_zero:
            # The optimiser has the rate of the next step by now.
            used = training.scaled_lr * rate(step - 1, training, steps=pl_module.steps)
            self.lines.add(_line((trainer.current_epoch, loss, step, used)))


def _row(line: str) -> tuple[int, str]:
    """Return the step of a row, and its line; a row has a number in every column."""
    (values,) = csv.reader([line])
    row = dict(zip(COLUMNS, values, strict=True))
    float(row["loss"]), float(row["lr"]), int(row["epoch"])
    return int(row["step"]), f"{line}\n"


def _line(values: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()
