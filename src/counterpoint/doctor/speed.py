"""A few steps of training, to know how long many will take."""

import time
from dataclasses import dataclass
from itertools import chain, repeat

from counterpoint.data import Batches, Source
from counterpoint.evaluation.placing import best_device
from counterpoint.framework import Model
from counterpoint.framework.settings import Training
from counterpoint.training.optimisers import optimiser
from counterpoint.training.step import train_step

SECONDS = 1.0  # of trying, but two steps at least; the first step comes on top
MOST_STEPS = 20
FEW, SIDE = 64, 20  # images in a step for views of 20 pixels: 0.9 of the speed of 256, on a CPU
LEAST = 16  # of larger views: at 40 pixels as fast as 64, on a CPU


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast it went."""

    images_per_second: float
    steps: int
    batch: int

    @property
    def words(self) -> str:
        return (
            f"{self.images_per_second:.0f} images/s, measured now: "
            f"{self.steps} steps of {self.batch}"
        )


def measure_speed(model: Model, source: Source, training: Training, *, workers: int = 0) -> Speed:
    """Train for a few seconds on the images; the first step warms up and does not count.

    The machine may be faster with larger batches, and slower when others use it.
    """
    model = model.to(best_device())
    chosen = optimiser(model, training)
    batch = small_batch(model, training)
    batches = Batches(source, batch=batch, seed=0, cut=model.views.cut, workers=workers)
    ends: list[float] = []
    for given in chain.from_iterable(repeat(batches)):  # few images are few steps a pass
        float(train_step(model, given, chosen, source))  # waits for the device
        ends.append(time.monotonic())
        if len(ends) > MOST_STEPS or (len(ends) > 2 and ends[-1] - ends[0] > SECONDS):
            break
    return Speed((len(ends) - 1) * batch / (ends[-1] - ends[0]), len(ends) - 1, batch)


def small_batch(model: Model, training: Training) -> int:
    """Return a batch whose steps take a second or so, and are about as fast per image as larger."""
    larger = (model.views.shapes[0][-1] / SIDE) ** 2
    return min(training.batch, max(LEAST, int(FEW / larger)))
