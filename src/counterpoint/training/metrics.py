"""The loss as rows of a CSV file, which a run that goes on continues."""

import csv
import io
from pathlib import Path
from typing import Any

import lightning as L
from lightning.pytorch.callbacks import Callback

from counterpoint.training.pretrainer import Pretrainer

FILE = "metrics.csv"
COLUMNS = ("epoch", "loss", "step", "lr")
EVERY = 50  # steps between two rows of a long run


class MetricRows(Callback):
    """Append a row to `metrics.csv` now and then, before a checkpoint of that step is written.

    Lightning's own CSV logger deletes what an earlier part of the run has written, and writes
    the row of a step after its checkpoint.
    """

    def __init__(self, folder: Path, *, every: int) -> None:
        self.file, self.every = folder / FILE, every

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.is_global_zero:
            old = [row for row in _rows(self.file) if int(row["step"]) <= trainer.global_step]
            lines = [COLUMNS, *([row[column] for column in COLUMNS] for row in old)]
            self.file.write_text("".join(map(_line, lines)))

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        step = trainer.global_step
        if step % self.every and step != trainer.max_steps:
            return
        if trainer.fit_loop._should_accumulate():
            return
        assert isinstance(pl_module, Pretrainer)
        world = pl_module.world
        loss = float(world.total(outputs["loss"].detach())) / world.size
        if trainer.is_global_zero:
            rate = trainer.optimizers[0].param_groups[0]["lr"]
            with self.file.open("a") as file:
                file.write(_line((trainer.current_epoch, loss, step, rate)))


def _rows(file: Path) -> list[dict[str, str]]:
    """Read whole rows; half a row at the end is what a killed process leaves."""
    if not file.is_file():
        return []
    whole = file.read_text().rpartition("\n")[0]
    rows = csv.DictReader(io.StringIO(whole))
    return [row for row in rows if set(COLUMNS) <= row.keys() and None not in row.values()]


def _line(values: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()
