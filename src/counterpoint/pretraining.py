"""One call: pretrain a method on images without labels."""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import lightning as L
from lightning.pytorch.loggers import Logger
from rich.console import Console

from counterpoint.data import Files, Source, Splits, fingerprint, image_shape, open_data
from counterpoint.framework import Method, Model
from counterpoint.framework.training import Training
from counterpoint.methods import named
from counterpoint.parts.extraction import Bank
from counterpoint.run import Run, save
from counterpoint.training.notice import Notice, Stopped
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.resuming import start_from
from counterpoint.training.start import start_table
from counterpoint.training.trainer import fit, trainer_for
from counterpoint.training.watchers import callbacks

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
    resume: str = "never",
    save_seconds: float = 240.0,  # sqrt(2 d M) for a save of d = 1 s and a failure every 7.5 h
    most_bad: float = 0.1,  # our choice, as is the next
    patience: float = 120.0,
    health: bool = True,
    loggers: Sequence[Logger] = (),
    console: Console | None = None,
    **trainer: Any,
) -> Run:
    """Train a method on unlabelled images and write the run to a folder.

    `epochs` replaces that of `training`; `steps` ends the run early, with its schedule fitted
    to them. `size` is the side that files of varying size are cut to, for a method by its name;
    `workers` read them, and never change what is seen.

    A checkpoint is written every `save_seconds` (0: after every step) and when a signal asks the
    run to stop; `resume="auto"` goes on from the newest that is whole, to the bit, on any number
    of devices, and begins when there is none. Files that cannot be read are replaced and listed;
    a share above `most_bad` stops the run. A rank that gives no sign of life for `patience`
    seconds is named by the others, which stop.

    `health` looks at the model after every epoch and writes a verdict, which training never
    notices. `loggers` are any of Lightning's, besides `metrics.csv`; `trainer` goes to
    Lightning's Trainer. Ctrl-C stops and keeps what was learned.
    """
    training = training or Training()
    training = training if epochs is None else replace(training, epochs=epochs)
    source = _unlabelled(data)
    image = image_shape(source, size=size)
    method = named(method, size=image[-1]) if isinstance(method, str) else method
    method = _banked(method, len(source))
    epoch = len(source) // training.batch
    steps = steps or training.epochs * epoch
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    identity = _identity(method, source, image, training, steps)
    start = start_from(folder, resume, identity)
    model = _built(method, image, training)
    with Notice() as notice:
        watching = callbacks(
            source,
            folder,
            notice,
            steps=steps,
            epoch=epoch,
            save_seconds=save_seconds,
            most_bad=most_bad,
            patience=patience,
            health=health,
        )
        runner = trainer_for(training, watching, loggers, steps=steps, asked=trainer)
        if runner.is_global_zero:
            ranks = runner.world_size
            table = start_table(method, model, source, training, ranks=ranks, steps=steps)
            (console or Console(stderr=True)).print(table)
        module = Pretrainer(
            model,
            source,
            training,
            steps=steps,
            workers=_workers(source, workers),
            identity=identity,
        )
        stopped = fit(runner, module, start)
    run = Run(folder, method, model, image, training)
    if runner.is_global_zero:
        save(run, source=repr(source), steps=runner.global_step)
    _end(stopped, f"stopped at step {runner.global_step} of {steps}", folder)
    return run


def _built(method: Method, image: tuple[int, ...], training: Training) -> Model:
    """Build a method from its seed, in the precision and form that is trained."""
    L.seed_everything(training.seed, verbose=False)
    model = method.build(image=image)
    if training.precision == "64-true":  # before a checkpoint is loaded: Lightning widens after it
        model.double()
    if training.compile:
        model.encoder.compile()  # type: ignore[attr-defined]
    return model


def _identity(
    method: Method, source: Source | Files, image: tuple[int, ...], training: Training, steps: int
) -> dict[str, Any]:
    """Say what a checkpoint belongs to."""
    return {
        "method": method.fingerprint,
        "data": fingerprint(source),
        "image": image,
        "training": asdict(training),
        "steps": steps,
    }


def _end(stopped: SystemExit | None, where: str, folder: Path) -> None:
    """Leave a run that was asked to stop: by exit code 143, or as Ctrl-C does."""
    if isinstance(stopped, Stopped) and stopped.preempted:
        sys.stderr.write(f"counterpoint: {where}; --resume auto goes on\n")
        raise stopped
    if stopped is not None:
        raise KeyboardInterrupt(
            f"{where}; what was learned is in {folder}, and --resume auto goes on"
        )


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
