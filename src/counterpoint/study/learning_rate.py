"""The learning rate of a method, chosen by the loss on held-out images."""

import copy
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from counterpoint.data import Batches, Source
from counterpoint.framework import Draw, Method, Model
from counterpoint.framework.settings import Training
from counterpoint.job import Job
from counterpoint.pretraining import pretrain
from counterpoint.run_files import CHECKPOINTS
from counterpoint.training.step import batch_loss, samples_of

SHARE = 0.1  # of the trial's steps, for each rate; ours: the paper does not say
MOST = 20  # batches of held-out images


@dataclass(frozen=True, slots=True)
class Choice:
    """The rate with the lowest loss, the loss of each, and the steps that they took."""

    lr: float
    losses: tuple[float, ...]
    steps: int


def choose_rate(job: Job, held_out: Source, rates: tuple[float, ...], *, folder: Path) -> Choice:
    """Train shortly at each rate and keep the one whose loss on held-out images is lowest.

    The paper searches a grid too, by the loss on the training images (section 4); we hold the
    images out, so that a rate does not win by memory. Ties go to the first.
    """
    short = short_steps(job.steps)
    losses = []
    for number, rate in enumerate(rates):
        place = folder / f"rate-{number}"
        tried = replace(job, steps=short, training=replace(job.training, lr=rate))
        run = pretrain(tried, out=place, resume="auto", health=False)
        _refuse(run.model, job.method)
        losses.append(held_out_loss(run.model, held_out, tried.training))
        shutil.rmtree(place / CHECKPOINTS, ignore_errors=True)  # its weights are in the run
    best = min(range(len(rates)), key=lambda place: losses[place])
    return Choice(rates[best], tuple(losses), short * len(rates))


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
        samples = samples_of(copied, source, given.index)
        draw = Draw(training.seed, 0, given.index)
        losses.append(batch_loss(copied, given, draw, samples))
        if len(losses) == MOST:
            break
    mean = float(torch.stack(losses).double().mean())
    return mean if mean == mean else float("inf")


def _refuse(model: Model, method: Method) -> None:
    """Refuse losses that say nothing about held-out images."""
    if not model.loss.needs_negatives:
        raise ValueError(
            "study: a loss without negatives is lowest when all vectors are one, so it cannot "
            "choose a learning rate; give one by training=(('lr', ...),) and leave rates empty"
        )
    if not method.held_out:
        raise ValueError(
            "study: the extraction knows training images only: its loss on others means nothing; "
            "give a learning rate by training=(('lr', ...),) and leave rates empty"
        )
