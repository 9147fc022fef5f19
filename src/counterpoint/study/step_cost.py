"""How long one step of a method takes on this machine."""

import time
from itertools import chain, islice, repeat

from counterpoint.data import Batches, Source
from counterpoint.framework import Model
from counterpoint.framework.settings import Training
from counterpoint.training.optimisers import optimiser
from counterpoint.training.step import train_step

TIMED = 3  # steps; the first warms up and does not count


def step_seconds(model: Model, source: Source, training: Training) -> float:
    """Time a few steps of a model that is not used afterwards; the fastest counts."""
    chosen = optimiser(model, training)
    batches = Batches(source, batch=training.batch, seed=training.seed, cut=model.views.cut)
    taken: list[float] = []
    for given in islice(chain.from_iterable(repeat(batches)), TIMED):
        started = time.perf_counter()
        train_step(model, given, chosen, source, seed=training.seed)
        taken.append(time.perf_counter() - started)
    return min(taken[1:])
