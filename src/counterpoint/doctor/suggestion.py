"""How to start on these images and this machine."""

import math
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from statistics import median_low
from typing import Any

import torch

from counterpoint.data import Source
from counterpoint.doctor.beginning import Beginning, beginning
from counterpoint.doctor.comparison import WayComparison, compare_ways
from counterpoint.doctor.inspection import Look
from counterpoint.doctor.speed import measure_speed, small_batch
from counterpoint.framework import Model
from counterpoint.framework.settings import Training, fitting_batch
from counterpoint.job import Job
from counterpoint.methods import training_of
from counterpoint.pretraining import built_model
from counterpoint.progress import clock
from counterpoint.resolve import resolve
from counterpoint.training.cost import memory_of, memory_there

ENOUGH = 630_000  # images seen in 14 epochs of CIFAR-10: kNN 0.330 to 0.638, docs/results.md
SIDES = (32, 64, 96, 128)  # of views; 128 is the paper's for ImageNet
SIDE_CPU = 64  # our choice: four times as fast as 128
SIDE_WEIGHTS = 96  # 4 % wrong by kNN where 224 has 1 %: docs/measurements.md, "Use: weights"
SHARE = 0.5  # of the memory; the rest is for the images and the system
UPDATES = 64  # a run should have as many, with a smaller batch if need be; our choice
LEAST_BATCH = 32  # and no smaller than this: fewer negatives teach little


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Settings, what they cost, and the command that runs them.

    >>> some = Suggestion(
    ...     method="simclr-small", encoder=None, weights=None, size=32, batch=256, epochs=14,
    ...     seconds=1800, memory=2**30, measured="measured here", command="counterpoint pretrain",
    ... )
    >>> some.rows()["time"]
    'about 0:30:00 (measured here)'
    """

    method: str
    encoder: str | None
    weights: str | None
    size: int
    batch: int
    epochs: int
    seconds: float
    memory: int
    measured: str
    """Where the estimate of the time comes from."""
    command: str
    comparison: WayComparison | None = None
    """Precision, batch and compiling as measured here."""

    def rows(self) -> dict[str, str]:
        """Return what people read."""
        name = "that of its run" if self.encoder is None else self.encoder
        start = {} if self.weights is None else {"encoder": f"{name}, from {self.weights}"}
        return {
            "method": self.method,
            **start,
            "image size": f"{self.size} pixels",
            "batch": f"{self.batch} images",
            "epochs": f"{self.epochs:,}",
            "time": f"about {clock(self.seconds)} ({self.measured})",
            "memory": f"about {self.memory / 2**30:.1f} GiB",
        }


def suggested(
    source: Source,
    looks: list[Look],
    place: str,
    *,
    encoder: str | None = None,
    weights: str | None = None,
    seconds: float = 0.0,
    tell: Callable[[str], None] = lambda _: None,
) -> Suggestion | None:
    """Suggest settings for a source; None where too few can be read.

    `beginning` chooses method, encoder and weights. From scratch as many epochs as show the
    encoder 630,000 images, but no more than a night; from weights ten minutes. With `seconds`
    it is measured which precision and batch are fastest here, and whether compiling pays.

    >>> from counterpoint.data import open_data
    >>> from counterpoint.doctor.examination import examined
    >>> from counterpoint.doctor.suggestion import suggested
    >>> splits = open_data(photos_folder)
    >>> found = suggested(splits.train, examined(splits, photos_folder).sound, "photos")
    >>> found.method, found.size
    ('simclr-small', 32)
    """
    first = beginning(source, encoder=encoder, weights=weights)
    broken = [look.sample for look in looks if look.broken is not None]
    few = fitting_batch(training_of(first.method).batch, len(source)) < 2
    if few or len(broken) > len(looks) // 2:  # not all may have been looked at
        return None
    source = source.marked(broken)
    job = first_job(first, source, size=_side(first, source, [x for x in looks if not x.broken]))
    model = built_model(job)
    job = replace(job, training=_fitted(model, job.training))
    small = small_batch(model, job.training)

    def images(speed: float) -> int:
        return int(min(max(ENOUGH, len(source)), first.seconds * speed))

    compared = None
    if seconds > 0:
        compared = compare_ways(job, small=small, seconds=seconds, planned=images, tell=tell)
    tell("the speed with reading")
    speed = measure_speed(model, source, job.training, workers=job.workers)
    rate = speed.images_per_second * (compared.gain if compared else 1.0)
    epochs = _epochs(len(source), images(rate))
    largest = compared.batch if compared and compared.batch else job.training.batch
    batch = _batch(largest, epochs * len(source))
    whole = first_job(first, source, size=job.size, batch=batch, epochs=epochs, compared=compared)
    return Suggestion(
        first.method,
        first.encoder,
        first.weights,
        job.image[-1],
        batch,
        epochs,
        epochs * len(source) / rate,
        memory_of(model, whole.training).total,
        speed.words,
        _command(first, whole, place),
        compared,
    )


def first_job(
    first: Beginning,
    source: Source,
    *,
    size: int | None = None,
    batch: int | None = None,
    epochs: int | None = None,
    compared: WayComparison | None = None,
) -> Job:
    """Resolve a method on images that may be too few for its batch."""
    changes: dict[str, Any] = {
        "batch": batch or fitting_batch(training_of(first.method).batch, len(source))
    }
    changes |= {} if first.lr is None else {"lr": first.lr}
    if compared is not None:
        changes |= {"precision": compared.precision, "compile": compared.compile}
    return resolve(
        first.method,
        source,
        encoder=first.encoder,
        size=size,
        changes=changes,
        epochs=epochs,
        weights=first.file,
    )


def _command(first: Beginning, job: Job, place: str) -> str:
    """Write the command; weights as they were given, for a record has only their last names."""
    say = ("batch", "epochs", *(() if first.lr is None else ("lr",)), "precision", "compile")
    named = replace(job, name=first.method, encoder=first.encoder, weights=None)
    words = named.command(data=place, out=_free(place), say=say)
    if first.weights is not None:
        at = words.index("--encoder" if first.encoder else "--method") + 2
        words[at:at] = ["--weights", first.weights]
    return shlex.join(words)


def _side(first: Beginning, source: Source, looks: list[Look]) -> int | None:
    """Choose the side of views of files: no larger than half of the files are."""
    if source.one_shape is not None:
        return None
    short = median_low([min(look.width, look.height) for look in looks])
    most = SIDE_CPU if first.weights is None else SIDE_WEIGHTS
    most = SIDES[-1] if torch.cuda.is_available() else most
    return max(side for side in SIDES if side <= max(SIDES[0], min(short, most)))


def _fitted(model: Model, training: Training) -> Training:
    """Halve the batch until it fits into half of the memory."""
    there = memory_there()
    while training.batch > 2 and memory_of(model, training).total > SHARE * there:
        training = replace(training, batch=training.batch // 2, lanes=None)
    return training


def _batch(batch: int, images: int) -> int:
    """Halve the batch until the run has enough updates.

    >>> _batch(256, 630_000), _batch(256, 5_000), _batch(16, 100)
    (256, 64, 16)
    """
    while batch > LEAST_BATCH and images / batch < UPDATES:
        batch //= 2
    return batch


def _epochs(each: int, images: int) -> int:
    most = training_of("simclr").epochs
    return max(1, min(math.ceil(images / each), most))


def _free(place: str) -> str:
    """Name a folder for the run after its data; the next number where one is there already."""
    stem = re.sub(r"[^\w-]+", "-", Path(place).resolve().stem).strip("-") or "first"
    names = chain([f"runs/{stem}"], (f"runs/{stem}-{number}" for number in count(2)))
    return next(name for name in names if not Path(name).exists())
