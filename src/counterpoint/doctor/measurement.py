"""Steps of training, measured: in turn, on the same images, from the same weights."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from typing import Any

import torch

from counterpoint.data import Batches, Source
from counterpoint.data.batch import Batch
from counterpoint.doctor.alternatives import Alternative
from counterpoint.evaluation.placing import best_device
from counterpoint.framework import Model
from counterpoint.framework.momentum import compiled
from counterpoint.framework.settings import Precision, Training
from counterpoint.training.cost import memory_of
from counterpoint.training.optimisers import optimiser
from counterpoint.training.step import train_step

SAME = 2  # steps whose losses are compared
LEAST = 3  # rounds of steps that are timed, whatever they take
MOST = 12


@dataclass(eq=False)
class Racer:
    """One way to train, ready for its next step."""

    way: Alternative
    model: Model
    chosen: torch.optim.Optimizer
    batches: Sequence[Batch]
    source: Source

    def step(self, number: int) -> tuple[float, float]:
        """Train on a batch, and return its seconds and its loss."""
        began = time.monotonic()
        batch = self.batches[number % len(self.batches)]
        precision = self.way.precision
        loss = float(  # waits for the device
            train_step(self.model, batch, self.chosen, self.source, precision=precision)
        )
        return time.monotonic() - began, loss

    def begin(self) -> "Racer":
        """Take the first steps, whose losses are compared; the first of them is the warm-up."""
        steps = [self.step(number) for number in range(SAME)]
        rest = sum(seconds for seconds, _ in steps[1:]) / (SAME - 1)
        warmup = max(0.0, steps[0][0] - rest) if self.way.compiled else 0.0
        self.way = replace(self.way, warmup=warmup, losses=tuple(loss for _, loss in steps))
        return self


def racer(
    build: Callable[[], Model],
    training: Training,
    batches: Sequence[Batch],
    source: Source,
    *,
    precision: Precision = "32-true",
    compile: bool = False,  # noqa: A002 (as in Training)
) -> Racer:
    """Make ready one way to train; `build` gives the same weights every time."""
    model = build().to(best_device())
    if compile:
        network: Any = model.encoder
        compiled(network)
    batch = len(batches[0].index)
    needed = memory_of(model, replace(training, batch=batch, accumulate=1, lanes=None)).total
    way = Alternative(batch, precision, compile, memory=needed)
    return Racer(way, model, optimiser(model, training), batches, source).begin()


def some_batches(
    model: Model, source: Source, *, batch: int, count: int, workers: int
) -> list[Batch]:
    """Read some batches once, so that no way waits for files."""
    batches = Batches(source, batch=batch, seed=0, cut=model.views.cut, workers=workers)
    return list(islice(chain.from_iterable(repeat(batches)), count))


def race(
    racers: Sequence[Racer], *, seconds: float, tell: Callable[[], None] | None = None
) -> list[Alternative]:
    """Let each way take a step in turn until the time is over, and return what they took.

    In turn, so that whatever else the machine does meets all of them alike.
    """
    took: list[list[float]] = [[] for _ in racers]
    ends = time.monotonic() + seconds
    for number in range(MOST):
        if number >= LEAST and time.monotonic() > ends:
            break
        for place, each in enumerate(racers):
            took[place].append(each.step(SAME + number)[0])
        if tell is not None:
            tell()
    return [
        replace(each.way, seconds=tuple(times)) for each, times in zip(racers, took, strict=True)
    ]
