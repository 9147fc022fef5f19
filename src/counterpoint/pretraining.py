"""One call: pretrain a method on images without labels."""

from collections.abc import Sequence
from contextlib import ExitStack
from inspect import signature
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.loggers import Logger
from rich.console import Console
from rich.table import Table
from safetensors.torch import load_file
from torch import nn

from counterpoint.folder_lock import only_process
from counterpoint.framework import Encoder, Method, Model
from counterpoint.framework.momentum import compiled
from counterpoint.framework.pixels import Pixels
from counterpoint.framework.settings import Training
from counterpoint.job import Job, load_start
from counterpoint.methods.recognising import recipe_words
from counterpoint.resolve import resolve
from counterpoint.run import Run, save, steps_done
from counterpoint.run_files import CHECKPOINTS, MODEL
from counterpoint.run_options import KEEP, MAX_BAD, PATIENCE, SAVE_SECONDS
from counterpoint.run_start import keep_start
from counterpoint.training.best_figure import score_by
from counterpoint.training.callbacks.standard import standard_callbacks
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.clipping import clipping_identity
from counterpoint.training.initial_weights import load_initial, pixels_words
from counterpoint.training.leaving import leave_stopped, refuse_parts
from counterpoint.training.out_folder import out_folder
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.resume import start_from
from counterpoint.training.run_store.run_address import run_place
from counterpoint.training.run_store.run_copy import local_checkpoint
from counterpoint.training.run_store.run_store import RunStore
from counterpoint.training.signals import Notice
from counterpoint.training.small_maps import multiply_where_faster, plain_convolutions
from counterpoint.training.summary import start_table
from counterpoint.training.trainer import (
    check_trainer_options,
    refuse_idle_ranks,
    run_trainer,
    trainer_for,
)


def pretrain(
    method: Job | Run | Method | str | Path,
    data: Any = None,
    *,
    out: str | Path,
    encoder: Encoder | str | None = None,
    epochs: int | None = None,
    steps: int | None = None,
    training: Training | None = None,
    size: int | None = None,
    workers: int | None = None,
    weights: str | Path | Run | None = None,
    pixels: Pixels | None = None,
    resume: str = "never",
    save_seconds: float = SAVE_SECONDS,
    keep: int = KEEP,
    keep_hours: float = 0.0,
    keep_best: str | None = None,
    max_bad: float = MAX_BAD,
    patience: float = PATIENCE,
    health: bool = True,
    loggers: Sequence[Logger] | Logger = (),
    console: Console | None = None,
    **trainer: Any,
) -> Run:
    """Train a method on unlabelled images and write the run to a folder, or to an object store.

    It is trained by its recipe, also where some of its parts were swapped; `training` replaces the
    recipe, and `training_of("byol", batch=256)` is one with a change. `epochs` replaces that of
    the recipe; `steps` ends the run early, with its schedule fitted to them. `size` is the side
    that files of varying size are cut to, for a method by its name; `workers` read them, and
    never change what is seen. All of this makes a `Job` (`resolve`), which may be given instead.

    An address such as s3://bucket/run as `out` holds the same files as a folder: the run is written
    to a folder of the user's cache, and brought to the store after every checkpoint.

    A run, or its folder, in the place of a method trains it for longer: the new run starts from
    its weights, with its settings and the next seed, while the optimiser, the schedule and the
    epochs begin anew. It is written to a folder of its own. `weights` are loaded into the
    encoder only, strictly, before training starts: a safetensors file, a run, a timm folder or
    "pretrained"; views are normalised as they want it, or as `pixels` says.

    A checkpoint is written every `save_seconds` (0: after every step) and when a signal asks the
    run to stop, by a thread, while training continues. The last `keep` stay; one every `keep_hours`
    (0: none) is kept for good, and so is the best by a figure, `keep_best`: loss, knn, linear,
    rankme or top1. `resume="auto"` resumes from the newest that is whole, bit for bit, on any
    number of devices, and starts afresh if there is none. Files that cannot be read are replaced
    and listed; a share above `max_bad` stops the run. A rank that gives no sign of life for
    `patience` seconds is named by the others, which stop.

    `health` looks at the model after every epoch and writes a verdict, which training never
    notices. `loggers` are any of Lightning's, besides `metrics.csv`; `trainer` goes to
    Lightning's Trainer. Ctrl-C stops and keeps what was learned.

    >>> import torch
    >>> from tempfile import TemporaryDirectory
    >>> from counterpoint import training_of
    >>> images = torch.randint(256, (32, 3, 32, 32), dtype=torch.uint8)
    >>> with TemporaryDirectory() as folder:
    ...     training = training_of("simclr-small", batch=8)
    ...     run = pretrain("simclr-small", images, out=folder, training=training, steps=2)
    >>> run.embed(images).shape
    torch.Size([32, 256])
    """
    check_trainer_options(trainer, own=signature(pretrain).parameters)
    folder, store = out_folder(out), RunStore.of(out)
    score = score_by(folder, keep_best, health=health)
    checkpoints = Checkpoints(folder / CHECKPOINTS, keep, hours=keep_hours, score=score)
    job = _job(
        method,
        data,
        encoder=encoder,
        epochs=epochs,
        steps=steps,
        training=training,
        size=size,
        workers=workers,
        weights=weights,
        pixels=pixels,
    )
    folder.mkdir(parents=True, exist_ok=True)
    if store is not None:
        store.fetch(resume)
    identity = job.identity | clipping_identity(trainer)
    start = start_from(folder, local_checkpoint(resume), identity)
    model = built_model(job)
    console = console or Console(stderr=True)
    if start is not None and steps_done(folder) == job.steps:
        if store is not None:
            store.complete(MODEL)
        said = f"{run_place(folder)} finished at step {job.steps}: nothing to do"
        console.print(said, markup=False)
        model.load_state_dict(load_file(folder / MODEL))
        plain_convolutions(model)
        return Run(folder, job.method, model, job.image, job.training)
    begun = None
    with ExitStack() as held, Notice() as notice:
        watching = standard_callbacks(
            job.source,
            folder,
            notice,
            steps=job.steps,
            epoch=job.epoch,
            save_seconds=save_seconds,
            checkpoints=checkpoints,
            max_bad=max_bad,
            patience=patience,
            health=health,
            store=store,
        )
        runner = trainer_for(job.training, watching, loggers, steps=job.steps, asked=trainer)
        refuse_idle_ranks(job.training, runner.world_size)
        if runner.is_global_zero:
            held.enter_context(only_process(folder))
            if store is not None:
                held.enter_context(store.held())
            begun = keep_start(folder, model, drawn=job.start is None and job.weights is None)
            console.print(_table(job, model, ranks=runner.world_size))
        module = Pretrainer(
            model,
            job.source,
            job.training,
            steps=job.steps,
            workers=job.workers,
            identity=identity,
        )
        stopped = run_trainer(runner, module, start)
        refuse_parts(stopped, run_place(folder), apart=module.apart)
        trained = module.plain_model(torch.device("cpu"))
        run = Run(folder, job.method, trained or model, job.image, job.training)
        plain_convolutions(run.model)
        if runner.is_global_zero:
            save(run, job=job.record, steps=runner.global_step, start=begun)
        if module.apart:
            runner.strategy.barrier()
            run = run if trained is not None else _opened(job, folder)
        if store is not None:
            store.finish()
    leave_stopped(
        stopped, f"stopped at step {runner.global_step} of {job.steps}", run_place(folder)
    )
    return run


def _job(method: Job | Run | Method | str | Path, data: Any, **asked: Any) -> Job:
    """Resolve what was asked for; a job is taken as it is."""
    if not isinstance(method, Job):
        if data is None:
            raise ValueError("data: got none; needs a folder, a file or images")
        return resolve(method, data, **asked)
    given = {"data": data, **asked}
    if more := [name for name, value in given.items() if value is not None]:
        raise ValueError(f"training: got a job and {', '.join(more)}, which the job has already")
    return method


def built_model(job: Job) -> Model:
    """Build the model of a job from its seed, in the precision and form that is trained."""
    L.seed_everything(job.training.seed, verbose=False)
    model = job.method.build(image=job.image)
    if job.training.precision == "64-true":
        model.double()  # before a checkpoint is loaded: Lightning widens after it
    if job.start is not None:
        load_start(model, job.start)
    if job.weights is not None:
        load_initial(model, job.weights)
    multiply_where_faster(model, job.training.precision)
    if job.training.compile:
        assert isinstance(model.encoder, nn.Module)
        compiled(model.encoder)
    return model


def _table(job: Job, model: Model, *, ranks: int) -> Table:
    return start_table(
        job.method,
        model,
        job.source,
        job.training,
        recipe=recipe_words(job.method, job.training),
        start="; ".join(str(one) for one in (job.start, job.weights) if one is not None),
        pixels="" if job.weights is None else pixels_words(job.weights),
        ranks=ranks,
        steps=job.steps,
    )


def _opened(job: Job, folder: Path) -> Run:
    """Return what rank 0 has written of a sharded run, for another rank of it."""
    model = job.method.build(image=job.image)
    if (folder / MODEL).is_file():
        model.load_state_dict(load_file(folder / MODEL), assign=True)
    else:  # a disk that ranks do not share: nothing that could be mistaken for weights
        model.to("meta")
    return Run(folder, job.method, model, job.image, job.training)
