"""One call: pretrain a method on images without labels."""

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightning as L
from lightning.pytorch.loggers import Logger
from rich.console import Console

from counterpoint.data import Files, Source, Splits, image_shape, open_data
from counterpoint.framework import Method
from counterpoint.framework.training import Training
from counterpoint.methods import named
from counterpoint.parts.extraction import Bank
from counterpoint.run import Run, save
from counterpoint.training.health import HealthWatch
from counterpoint.training.loggers import logger_named
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.progress import ProgressLines
from counterpoint.training.start import start_table

Data = str | Path | Source | Files | Splits


def pretrain(
    method: Method | str,
    data: Data,
    *,
    out: str | Path,
    epochs: int | None = None,
    steps: int | None = None,
    training: Training | None = None,
    size: int | None = None,
    workers: int | None = None,
    health: bool = True,
    loggers: Sequence[Logger] | None = None,
    console: Console | None = None,
    **trainer: Any,
) -> Run:
    """Train a method on unlabelled images and write the run to a folder.

    `epochs` replaces that of `training`; `steps` ends the run early, with its schedule fitted
    to them. `size` is the side that files of varying size are cut to, for a method by its name;
    `workers` read them, and never change what is seen. `health` looks at the model after every
    epoch and writes a verdict, which training never notices. `loggers` are any of Lightning's, in
    place of a CSV file; `trainer` goes to Lightning's Trainer. Ctrl-C stops and keeps what was
    learned.
    """
    training = training or Training()
    training = training if epochs is None else replace(training, epochs=epochs)
    source = _unlabelled(data)
    image = image_shape(source, size=size)
    method = named(method, size=image[-1]) if isinstance(method, str) else method
    method = _banked(method, len(source))
    L.seed_everything(training.seed, verbose=False)
    model = method.build(image=image)
    if training.compile:
        model.encoder.compile()  # type: ignore[attr-defined]
    epoch = len(source) // training.batch
    steps = steps or training.epochs * epoch
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with _quiet():
        runner = L.Trainer(
            max_steps=steps,
            precision=training.precision,
            logger=[logger_named("csv", folder)] if loggers is None else list(loggers),
            callbacks=[ProgressLines(steps=steps), *([HealthWatch(source, folder)] * health)],
            log_every_n_steps=max(1, min(50, steps, epoch)),
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            **trainer,
        )
    if runner.is_global_zero:
        table = start_table(method, model, source, training, ranks=runner.world_size, steps=steps)
        (console or Console(stderr=True)).print(table)
    stopped = _fit(
        runner, Pretrainer(model, source, training, steps=steps, workers=_workers(source, workers))
    )
    run = Run(folder, method, model, image, training)
    if runner.is_global_zero:
        save(run, source=repr(source), steps=runner.global_step)
    if stopped:
        at = f"step {runner.global_step} of {steps}"
        raise KeyboardInterrupt(f"stopped at {at}; what was learned is in {folder}")
    return run


def _banked(method: Method, samples: int) -> Method:
    """Give a bank as many entries as there are images."""
    if not isinstance(method.extraction, Bank) or method.extraction.samples == samples:
        return method
    return method.swap(extraction=replace(method.extraction, samples=samples))


def _workers(source: Source | Files, asked: int | None) -> int:
    """Give one process per core to files; images in memory need none."""
    if asked is not None:
        return asked
    return min(8, os.cpu_count() or 1) if isinstance(source, Files) else 0


def _unlabelled(data: Data) -> Source | Files:
    """Take what training may see: the training split, where there are splits."""
    if isinstance(data, Source | Files):
        return data
    return (data if isinstance(data, Splits) else open_data(data)).train


def _fit(runner: L.Trainer, pretrainer: Pretrainer) -> bool:
    """Train; tell whether Ctrl-C ended it, which Lightning turns into an exit."""
    try:
        with _quiet():
            runner.fit(pretrainer)
    except SystemExit:
        return True
    return False


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Lightning's advertisements and the warnings that are its own out of the log."""
    logger = logging.getLogger("lightning.pytorch")
    level = logger.level
    logger.setLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*LeafSpec.*", category=FutureWarning)
        warnings.filterwarnings("ignore", message=".*does not have many workers.*")
        try:
            yield
        finally:
            logger.setLevel(level)
