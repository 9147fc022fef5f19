"""How to start on these images and this machine."""

import math
import re
import shlex
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from statistics import median_low

import torch

from counterpoint.data import Source, image_shape
from counterpoint.doctor.inspection import Look
from counterpoint.doctor.speed import Speed, measure_speed
from counterpoint.framework import Model
from counterpoint.framework.settings import Training, fitting_batch
from counterpoint.methods import method_named, training_of
from counterpoint.progress import clock
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
        """Give what people read."""
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
    batch = fitting_batch(training_of(method).batch, len(source))
    broken = [look.sample for look in looks if look.broken is not None]
    if batch < 2 or len(broken) > len(source) // 2:
        return None
    source = source.marked(broken)
    size = _side(source, [look for look in looks if look.broken is None])
    image = image_shape(source, size=size)
    model = method_named(method, size=image[-1]).build(image=image)
    training = _fitted(model, replace(training_of(method), batch=batch))
    trial = measure_speed(model, source, training)
    epochs = _epochs(len(source), trial, most=training_of("simclr").epochs)
    return Suggestion(
        method,
        image[-1],
        training.batch,
        epochs,
        epochs * len(source) / trial.images_per_second,
        memory_of(model, training).total,
        trial.words,
        _command(place, method, size, training.batch, epochs),
    )


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


def _epochs(images: int, trial: Speed, *, most: int) -> int:
    night = int(NIGHT * trial.images_per_second / images)
    return max(1, min(math.ceil(ENOUGH / images), night, most))


def _command(place: str, method: str, size: int | None, batch: int, epochs: int) -> str:
    words = ["counterpoint", "pretrain", place, "--method", method]
    words += [] if size is None else ["--size", str(size)]
    words += ["--batch-size", str(batch), "--epochs", str(epochs), "--out", _free(place)]
    return shlex.join(words)


def _free(place: str) -> str:
    """Name a folder for the run after its data; the next number where one is there already."""
    stem = re.sub(r"[^\w-]+", "-", Path(place).resolve().stem).strip("-") or "first"
    names = chain([f"runs/{stem}"], (f"runs/{stem}-{number}" for number in count(2)))
    return next(name for name in names if not Path(name).exists())
