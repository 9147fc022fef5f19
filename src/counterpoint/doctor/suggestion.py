"""How to start on these images and this machine."""

import math
import re
import shlex
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from statistics import median_low

import torch

from counterpoint.data import Source
from counterpoint.doctor.inspection import Look
from counterpoint.doctor.speed import Speed, measure_speed
from counterpoint.framework import Model
from counterpoint.framework.settings import Training, fitting_batch
from counterpoint.job import Job
from counterpoint.methods import training_of
from counterpoint.progress import clock
from counterpoint.resolve import resolve
from counterpoint.training.cost import memory_of, memory_there

ENOUGH = 630_000  # images seen in 14 epochs of CIFAR-10: kNN 0.330 to 0.638, docs/results.md
NIGHT = 8 * 3600  # seconds; our choice
SIDES = (32, 64, 96, 128)  # of views; 128 is the paper's for ImageNet
SIDE_CPU = 64  # our choice: four times as fast as 128
SHARE = 0.5  # of the memory; the rest is for the images and the system


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Settings, what they cost, and the command that runs them."""

    method: str
    size: int
    batch: int
    epochs: int
    seconds: float
    memory: int
    measured: str
    """Where the estimate of the time comes from."""
    command: str

    def rows(self) -> dict[str, str]:
        """Return what people read."""
        return {
            "method": self.method,
            "image size": f"{self.size} pixels",
            "batch": f"{self.batch} images",
            "epochs": f"{self.epochs:,}",
            "time": f"about {clock(self.seconds)} ({self.measured})",
            "memory": f"about {self.memory / 2**30:.1f} GiB",
        }


def suggested(source: Source, looks: list[Look], place: str) -> Suggestion | None:
    """Suggest settings for a source; None where too few can be read.

    SimCLR, since it gains most in the least time (docs/results.md): with the narrow encoder on
    a CPU, with its own on a GPU. As many epochs as show the encoder 630,000 images, but no
    more than a night.
    """
    method = "simclr" if torch.cuda.is_available() else "simclr-small"
    broken = [look.sample for look in looks if look.broken is not None]
    if fitting_batch(training_of(method).batch, len(source)) < 2 or len(broken) > len(source) // 2:
        return None
    source = source.marked(broken)
    size = _side(source, [look for look in looks if look.broken is None])
    job = first_job(method, source, size=size)
    model = job.method.build(image=job.image)
    training = _fitted(model, job.training)
    speed = measure_speed(model, source, training, workers=job.workers)
    epochs = _epochs(len(source), speed, most=training_of("simclr").epochs)
    job = first_job(method, source, size=size, batch=training.batch, epochs=epochs)
    return Suggestion(
        method,
        job.image[-1],
        training.batch,
        epochs,
        epochs * len(source) / speed.images_per_second,
        memory_of(model, training).total,
        speed.words,
        shlex.join(job.command(data=place, out=_free(place), say=("batch", "epochs"))),
    )


def first_job(
    method: str,
    source: Source,
    *,
    size: int | None = None,
    batch: int | None = None,
    epochs: int | None = None,
) -> Job:
    """Resolve a method on images that may be too few for its batch."""
    batch = batch or fitting_batch(training_of(method).batch, len(source))
    return resolve(method, source, size=size, changes={"batch": batch}, epochs=epochs)


def _side(source: Source, looks: list[Look]) -> int | None:
    """Choose the side of views of files: no larger than half of the files are."""
    if source.one_shape is not None:
        return None
    short = median_low([min(look.width, look.height) for look in looks])
    most = SIDES[-1] if torch.cuda.is_available() else SIDE_CPU
    return max(side for side in SIDES if side <= max(SIDES[0], min(short, most)))


def _fitted(model: Model, training: Training) -> Training:
    """Halve the batch until it fits into half of the memory."""
    there = memory_there()
    while training.batch > 2 and memory_of(model, training).total > SHARE * there:
        training = replace(training, batch=training.batch // 2)
    return training


def _epochs(images: int, speed: Speed, *, most: int) -> int:
    night = int(NIGHT * speed.images_per_second / images)
    return max(1, min(math.ceil(ENOUGH / images), night, most))


def _free(place: str) -> str:
    """Name a folder for the run after its data; the next number where one is there already."""
    stem = re.sub(r"[^\w-]+", "-", Path(place).resolve().stem).strip("-") or "first"
    names = chain([f"runs/{stem}"], (f"runs/{stem}-{number}" for number in count(2)))
    return next(name for name in names if not Path(name).exists())
