"""How long one step of a method takes on this machine."""

import statistics
import time
from itertools import chain, pairwise, repeat

from counterpoint.data import Batches
from counterpoint.job import Job
from counterpoint.pretraining import built_model
from counterpoint.training.optimisers import optimiser
from counterpoint.training.step import train_step

FEWEST = 2  # steps that count, however short the time is


def step_seconds(job: Job, *, seconds: float) -> float:
    """Train for some seconds as the job will be trained; return the median step's time.

    A step's time includes the wait for its images. The first step warms up, and compiles if the job
    asks for it; it does not count. The median leaves out short disturbances, and a lucky step
    promises nothing.
    """
    training, source, model = job.training, job.source, built_model(job)
    chosen = optimiser(model, training)
    batches = Batches(source, batch=training.batch, seed=training.seed, cut=model.views.cut)
    ends: list[float] = []
    for given in chain.from_iterable(repeat(batches)):
        train_step(model, given, chosen, source, seed=training.seed, precision=training.precision)
        ends.append(time.perf_counter())
        if len(ends) > FEWEST and ends[-1] - ends[0] >= seconds:
            break
    return statistics.median(later - earlier for earlier, later in pairwise(ends))
