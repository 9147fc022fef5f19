"""Watch the health of a run: one look after every epoch, one line of JSON, one for people."""

import json
import sys
from dataclasses import fields, replace
from numbers import Number
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback
from torch import Tensor

from counterpoint.data import Source
from counterpoint.evaluation.health import Signs, Verdict, probed, take_look, verdict
from counterpoint.evaluation.health.online_probes import ASKED, KNOWN
from counterpoint.framework import Model, twins
from counterpoint.framework.permutation import drawn
from counterpoint.log_lines import Log, parse_object, read_lines, whole_number
from counterpoint.progress import TextStream
from counterpoint.pulse import phase
from counterpoint.run_files import HEALTH
from counterpoint.training.divided_memory import borrowed, lend_rows
from counterpoint.training.pretrainer import Pretrainer

CHOICE = 0x6865616C7468  # "health": which images are looked at, the same in every run


class HealthWatch(Callback):
    """Look at the model before training and after every epoch; training never notices.

    A look is made by rank 0 with the same images and views each time. It is written to
    `health.jsonl` in the folder, with its verdict, and said in one line.
    """

    def __init__(
        self,
        source: Source,
        folder: str | Path,
        *,
        images: int = 512,
        stream: TextStream | None = None,
    ) -> None:
        self.source, self.lines, self.stream = source, Log(Path(folder) / HEALTH), stream
        self.order = drawn(len(source), max(images, KNOWN + ASKED), seed=CHOICE)
        self.index = self.order[:images]
        self.history: list[Signs] = []
        self.loss: Tensor | None = None
        self.gradient: Tensor | None = None
        self.lr: float | None = None

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        assert isinstance(pl_module, Pretrainer)
        if trainer.is_global_zero:
            self.lines.file.parent.mkdir(parents=True, exist_ok=True)
            # A run that resumes keeps its measurements; a new run in an old folder starts afresh.
            self.history = _past(self.lines.read(_read), until=trainer.global_step)
            self.lines.rewrite("".join(self._lines()))
        # All ranks know whether there is a look: they bring weights or rows of a bank to it.
        if trainer.global_step == 0 or (not pl_module.apart and not self.history):
            self.look(trainer, pl_module, epoch=trainer.current_epoch)

    def on_before_optimizer_step(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        optimizer: torch.optim.Optimizer,
    ) -> None:
        assert isinstance(pl_module, Pretrainer)
        last = trainer.is_last_batch or trainer.global_step + 1 == trainer.max_steps
        if last and (trainer.is_global_zero or pl_module.sharded):
            self.gradient = pl_module.gradient_norm()
            self.lr = float(optimizer.param_groups[0]["lr"])

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        assert isinstance(pl_module, Pretrainer)
        self.loss = pl_module.loss_of_update

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.look(trainer, pl_module, epoch=trainer.current_epoch + 1)

    def look(self, trainer: L.Trainer, pl_module: L.LightningModule, *, epoch: int) -> None:
        """Measure, judge, write and say; all ranks call it, and rank 0 has the whole model."""
        assert isinstance(pl_module, Pretrainer)
        model, step = pl_module.gather(pl_module.device), trainer.global_step
        lent = lend_rows(pl_module.model, self.index)
        if model is None or not trainer.is_global_zero:
            return
        with phase("looking at the health of the model", alone=True):
            labelled = probed(model, self.source, self.order)
            with borrowed(model, lent):
                signs = take_look(model, self.source, self.index)
        found = replace(
            signs,
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
        self.lines.add(_line(found, judged))
        stream = self.stream or sys.stderr  # now: while a bar is shown it is another one
        stream.write(f"health  epoch {epoch}: {said(found, judged)}\n")
        stream.flush()

    def _lines(self) -> list[str]:
        past = [self.history[: place + 1] for place in range(len(self.history))]
        return [_line(looks[-1], verdict(looks)) for looks in past]


def decay_of(model: Model, progress: float) -> float | None:
    """Return the decay of the twin at this share of the run, if there is one."""
    follows = (getattr(twin, "follow", None) for twin in twins(model))
    return next((1 - follow(progress) for follow in follows if follow is not None), None)


def read_history(file: Path, *, until: int) -> list[Signs]:
    """Read the measurements of a run that resumes at a step; a new run has none."""
    return _past(read_lines(file, _read)[0], until=until)


def _past(looks: list[Signs], *, until: int) -> list[Signs]:
    return [look for look in looks if 0 < until >= look.step]


def _read(line: str) -> Signs:
    """Read a look; one with a figure that is not a number is damaged."""
    found = Signs.from_dict(parse_object(line))
    whole_number(found.step)
    for field in fields(found):
        value = getattr(found, field.name)
        for figure in value if isinstance(value, tuple) else (value,):
            number = isinstance(figure, Number) and isinstance(figure, bool) is (field.type is bool)
            if figure is not None and not number:
                raise TypeError(f"{field.name} is {figure!r}")
    return found


def said(signs: Signs, judged: Verdict) -> str:
    """Return a verdict in words, with the accuracy of kNN where there are labels."""
    near = "" if signs.knn is None else f"  kNN {signs.knn:.3f}"
    return f"{judged.word}{near}  {judged.why}"


def _line(signs: Signs, judged: Verdict) -> str:
    look = {"verdict": judged.word, "why": judged.why, **signs.to_dict()}
    return json.dumps(look, allow_nan=False) + "\n"
