"""Watch the health of a run: one look after every epoch, one line of JSON, one for people."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback
from torch import Tensor

from counterpoint.data import Files, Source
from counterpoint.data.progress import Stream
from counterpoint.evaluation.health import Signs, Verdict, measure, probed, verdict
from counterpoint.framework import Model, twins
from counterpoint.framework.randomness import keyed_order
from counterpoint.training.lines import read_lines
from counterpoint.training.pretrainer import Pretrainer

CHOICE = 0x6865616C7468  # "health": which images are looked at, the same in every run
FILE = "health.jsonl"


class HealthWatch(Callback):
    """Look at the model before training and after every epoch; training never notices.

    A look is made by rank 0 with the same images and views each time. It is written to
    `health.jsonl` in the folder, with its verdict, and said in one line.
    """

    def __init__(
        self,
        source: Source | Files,
        folder: str | Path,
        *,
        images: int = 512,
        stream: Stream | None = None,
    ) -> None:
        self.source, self.file, self.stream = source, Path(folder) / FILE, stream
        self.order = keyed_order(len(source), seed=CHOICE, epoch=0)
        self.index = self.order[:images]
        self.history: list[Signs] = []
        self.loss: Tensor | None = None
        self.gradient: Tensor | None = None
        self.lr: float | None = None

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if not trainer.is_global_zero:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        # A run that goes on keeps its looks; a new run in an old folder begins anew.
        self.history = read_history(self.file, until=trainer.global_step)
        self.file.write_text("".join(self._lines()))
        if not self.history:
            self.look(trainer, pl_module, epoch=trainer.current_epoch)

    def on_before_optimizer_step(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        optimizer: torch.optim.Optimizer,
    ) -> None:
        last = trainer.is_last_batch or trainer.global_step + 1 == trainer.max_steps
        if trainer.is_global_zero and last:
            gradients = [p.grad for p in pl_module.parameters() if p.grad is not None]
            self.gradient = torch.nn.utils.get_total_norm(gradients)
            self.lr = float(optimizer.param_groups[0]["lr"])

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        self.loss = outputs["loss"]

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.is_global_zero:
            self.look(trainer, pl_module, epoch=trainer.current_epoch + 1)

    def look(self, trainer: L.Trainer, pl_module: L.LightningModule, *, epoch: int) -> None:
        """Measure, judge, write and say."""
        assert isinstance(pl_module, Pretrainer)
        model, step = pl_module.model, trainer.global_step
        images = self.source if isinstance(self.source, Files) else self.source.images[self.index]
        labelled = probed(model, self.source, self.order)
        found = replace(
            measure(model, images, self.index),
            epoch=epoch,
            step=step,
            step_loss=None if self.loss is None else float(self.loss),
            gradient_norm=None if self.gradient is None else float(self.gradient),
            lr=self.lr,
            momentum=decay_of(model, step / pl_module.steps),
            knn=labelled.get("knn"),
            linear=labelled.get("linear"),
        )
        self.history.append(found)
        judged = verdict(self.history)
        with self.file.open("a") as file:
            file.write(_line(found, judged))
        stream = self.stream or sys.stderr  # now: while a bar is shown it is another one
        stream.write(f"health  epoch {epoch}: {said(found, judged)}\n")
        stream.flush()

    def _lines(self) -> list[str]:
        past = [self.history[: place + 1] for place in range(len(self.history))]
        return [_line(looks[-1], verdict(looks)) for looks in past]


def decay_of(model: Model, progress: float) -> float | None:
    """Give the decay of the twin at this share of the run, if there is one."""
    return next((1 - twin.follow(progress) for twin in twins(model)), None)


def read_history(file: Path, *, until: int) -> list[Signs]:
    """Read the looks of a run that goes on at a step; a run that begins has none."""
    return [Signs.from_dict(look) for look in read_lines(file) if 0 < until >= look["step"]]


def said(signs: Signs, judged: Verdict) -> str:
    """Give a verdict in words, with the accuracy of kNN where there are labels."""
    near = "" if signs.knn is None else f"  kNN {signs.knn:.3f}"
    return f"{judged.word}{near}  {judged.why}"


def _line(signs: Signs, judged: Verdict) -> str:
    record = {"verdict": judged.word, "why": judged.why, **signs.to_dict()}
    return json.dumps(record, allow_nan=False) + "\n"
