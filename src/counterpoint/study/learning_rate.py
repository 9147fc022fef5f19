"""The learning rate of a method, chosen by the loss on held-out images."""

import copy
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from counterpoint.data import Batches, Source
from counterpoint.framework import Draw, Model
from counterpoint.framework.settings import Training
from counterpoint.job import Job
from counterpoint.pretraining import pretrain
from counterpoint.run_files import CHECKPOINTS
from counterpoint.training.callbacks.guard import NonFiniteError
from counterpoint.training.step import batch_loss, samples_of

SHARE = 0.1  # of the trial's steps, for each rate; ours: the paper does not say
MOST = 20  # batches of held-out images
LOSS = "held-out-loss.txt"


@dataclass(frozen=True, slots=True)
class Choice:
    """The rate with the lowest loss, the loss of each, and the steps that they took."""

    lr: float
    losses: tuple[float, ...]
    steps: int


def choose_rate(job: Job, held_out: Source, rates: tuple[float, ...], *, folder: Path) -> Choice:
    """Train shortly at each rate and keep the one whose loss on held-out images is lowest.

    The paper searches a grid too, by the loss on the training images (section 4); we hold the
    images out, so that a rate does not win by memory. Ties go to the first. A rate at which
    training diverges never wins.
    """
    _refuse(job, held_out)
    short = short_steps(job.steps)
    losses = []
    for number, rate in enumerate(rates):
        tried = replace(job, steps=short, training=replace(job.training, lr=rate))
        losses.append(_loss_after(tried, held_out, folder / f"rate-{number}"))
    best = min(range(len(rates)), key=lambda place: losses[place])
    if losses[best] == float("inf"):
        raise NonFiniteError(
            f"study: training diverges at every rate of {', '.join(map(str, rates))}; "
            "give lower rates"
        )
    return Choice(rates[best], tuple(losses), short * len(rates))


def _loss_after(tried: Job, held_out: Source, place: Path) -> float:
    """Train and return the loss on held-out images; one that was found before is read."""
    found = place / LOSS
    if found.is_file():
        return float(found.read_text())
    try:
        run = pretrain(tried, out=place, resume="auto", health=False)
        loss = held_out_loss(run.model, held_out, tried.training)
    except NonFiniteError:
        loss = float("inf")
    new = found.with_suffix(".new")
    new.write_text(f"{loss!r}\n")
    new.replace(found)
    shutil.rmtree(place / CHECKPOINTS, ignore_errors=True)  # its weights are in the run
    return loss


def short_steps(steps: int) -> int:
    """Return the steps that each rate is tried for."""
    return max(1, round(SHARE * steps))


@torch.no_grad()
def held_out_loss(model: Model, source: Source, training: Training) -> float:
    """Return the mean contrastive loss of a copy of a model, in training mode, on its own views.

    A loss that is not a number is infinite: such a rate never wins.
    """
    copied = copy.deepcopy(model).train()
    batch = min(training.batch, len(source))
    losses = []
    for given in Batches(source, batch=batch, seed=training.seed, cut=model.views.cut):
        samples = samples_of(copied, source, given)
        draw = Draw(training.seed, 0, given.index)
        losses.append(batch_loss(copied, given, draw, samples))
        if len(losses) == MOST:
            break
    mean = float(torch.stack(losses).double().mean())
    return mean if mean == mean else float("inf")


def _refuse(job: Job, held_out: Source) -> None:
    """Refuse what cannot choose a rate, before anything is trained."""
    instead = "give a learning rate by training=(('lr', ...),) and leave rates empty"
    with torch.device("meta"):
        model = job.method.build(image=job.image)
    if not model.loss.needs_negatives:
        raise ValueError(
            "study: a loss without negatives is lowest when all vectors are one, so it cannot "
            f"choose a learning rate; {instead}"
        )
    if not job.method.held_out:
        raise ValueError(
            "study: the extraction knows training images only: its loss on others means nothing; "
            + instead
        )
    if len(held_out) < 2:  # an image and its negative
        raise ValueError(
            f"study: got {held_out!r} to choose a learning rate on, needs some that are held out; "
            f"{instead}"
        )
