"""One call: pretrain a method on images without labels."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import lightning as L
from lightning.pytorch.loggers import Logger
from rich.console import Console
from safetensors.torch import load_file
from torch import nn

from counterpoint.data import Source, as_source, image_shape, view_side
from counterpoint.data.workers import loader_workers
from counterpoint.framework import Method, Model
from counterpoint.framework.momentum import compiled
from counterpoint.framework.settings import Training, fitting_batch
from counterpoint.methods import RECIPES, method_named, training_of
from counterpoint.methods.recognising import recipe_words
from counterpoint.run import Run, save, steps_done
from counterpoint.training.callbacks.standard import standard_callbacks
from counterpoint.training.out_folder import out_folder
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.resume import start_from
from counterpoint.training.run_lock import only_run
from counterpoint.training.signals import Notice, Stopped
from counterpoint.training.summary import start_table
from counterpoint.training.trainer import run_trainer, trainer_for


def pretrain(
    method: Method | str,
    data: Any,
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

    It is trained by its recipe, also where some of its parts were swapped; `training` replaces the
    recipe, and `training_of("byol", batch=256)` is one with a change. `epochs` replaces that of
    the recipe; `steps` ends the run early, with its schedule fitted to them. `size` is the side
    that files of varying size are cut to, for a method by its name; `workers` read them, and
    never change what is seen.

    A checkpoint is written every `save_seconds` (0: after every step) and when a signal asks the
    run to stop; `resume="auto"` goes on from the newest that is whole, to the bit, on any number
    of devices, and begins when there is none. Files that cannot be read are replaced and listed;
    a share above `most_bad` stops the run. A rank that gives no sign of life for `patience`
    seconds is named by the others, which stop.

    `health` looks at the model after every epoch and writes a verdict, which training never
    notices. `loggers` are any of Lightning's, besides `metrics.csv`; `trainer` goes to
    Lightning's Trainer. Ctrl-C stops and keeps what was learned.
    """
    known = isinstance(method, str) and method in RECIPES
    training = training_of(method) if known and training is None else training
    _more_than_nothing(steps=steps, size=size)
    source = as_source(data)
    image = image_shape(source, size=size)
    side = view_side(source, size=size)
    method = method_named(method, size=side) if isinstance(method, str) else method
    training = training or training_of(method)
    training = training if epochs is None else replace(training, epochs=epochs)
    method = method.for_samples(len(source))
    epoch = len(source) // training.batch
    steps = training.epochs * epoch if steps is None else steps
    folder = out_folder(out)
    folder.mkdir(parents=True, exist_ok=True)
    identity = _identity(method, source, image, training, steps)
    start = start_from(folder, resume, identity)
    _enough(training, len(source))
    model = _built(method, image, training)
    if start is not None and steps_done(folder) == steps:
        (console or Console(stderr=True)).print(f"{folder} finished at step {steps}: nothing to do")
        model.load_state_dict(load_file(folder / "model.safetensors"))
        return Run(folder, method, model, image, training)
    with ExitStack() as held, Notice() as notice:
        watching = standard_callbacks(
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
        _one_each(training, runner.world_size)
        if runner.is_global_zero:
            held.enter_context(only_run(folder))
            ranks = runner.world_size
            recipe = recipe_words(method, training)
            table = start_table(
                method, model, source, training, recipe=recipe, ranks=ranks, steps=steps
            )
            (console or Console(stderr=True)).print(table)
        module = Pretrainer(
            model,
            source,
            training,
            steps=steps,
            workers=loader_workers(source, workers),
            identity=identity,
        )
        stopped = run_trainer(runner, module, start)
        run = Run(folder, method, model, image, training)
        if runner.is_global_zero:
            save(run, source=repr(source), steps=runner.global_step)
    _end(stopped, f"stopped at step {runner.global_step} of {steps}", folder)
    return run


def _more_than_nothing(**given: int | None) -> None:
    """Refuse numbers of steps or pixels that are none."""
    for name, value in given.items():
        if value is not None and value < 1:
            raise ValueError(f"training: {name} is {value}; needs 1 or more, or leave it out")


def _enough(training: Training, images: int) -> None:
    """Refuse a batch that is larger than the data, with one that fits."""
    if training.batch > images:
        fits = fitting_batch(training.batch, images) // training.accumulate * training.accumulate
        raise ValueError(
            f"data: a batch of {training.batch} from {images} images; "
            + (f"--batch-size {fits} fits" if fits else "there are too few to train on")
        )


def _one_each(training: Training, ranks: int) -> None:
    """Refuse more processes than there are images to share out at once."""
    if training.micro_batch < ranks:
        raise ValueError(
            f"training: {training.micro_batch} images at once for {ranks} processes; needs one or "
            "more for each: a larger --batch-size, a smaller --accumulate or fewer --devices"
        )


def _built(method: Method, image: tuple[int, ...], training: Training) -> Model:
    """Build a method from its seed, in the precision and form that is trained."""
    L.seed_everything(training.seed, verbose=False)
    model = method.build(image=image)
    if training.precision == "64-true":  # before a checkpoint is loaded: Lightning widens after it
        model.double()
    if training.compile:
        assert isinstance(model.encoder, nn.Module)
        compiled(model.encoder)
    return model


def _identity(
    method: Method, source: Source, image: tuple[int, ...], training: Training, steps: int
) -> dict[str, Any]:
    """Say what a checkpoint belongs to."""
    return {
        "method": method.fingerprint,
        "data": source.fingerprint(),
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
