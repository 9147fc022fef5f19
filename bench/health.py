"""What looking at a model costs: a look with its online probes over an epoch of CIFAR-10.

`scripts/bench health`: for each `-small` recipe, steps and looks alternate in one process; an
epoch is as many steps as it has. One look is made per epoch.
"""

import logging
import os
import statistics
import tempfile
import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import lightning as L

from bench.report import Bar, finish
from bench.step import Clock
from counterpoint.data import open_data
from counterpoint.methods import METHODS, SEVEN, training_of
from counterpoint.training.callbacks.health_watch import HealthWatch
from counterpoint.training.pretrainer import Pretrainer

STEPS, EVERY = 12, 4


class Looks(L.Callback):
    """A look after some steps, timed, and taken out of the time of the steps."""

    def __init__(self, watch: HealthWatch) -> None:
        self.watch, self.seconds = watch, list[float]()

    def on_train_batch_start(self, trainer: Any, module: Any, _batch: Any, place: int) -> None:
        if place and place % EVERY == 0:
            started = time.perf_counter()
            self.watch.look(trainer, module, epoch=place)
            self.seconds.append(time.perf_counter() - started)


def share(name: str, source: Any) -> float:
    """Return the share of an epoch that its look takes."""
    training = training_of(f"{name}-small")
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        looks = Looks(HealthWatch(source, folder))
        trainer = L.Trainer(
            max_steps=STEPS,
            callbacks=[clock, looks],
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            accelerator="cpu",
        )
        model = METHODS[f"{name}-small"](size=32).build(image=(3, 32, 32))
        trainer.fit(Pretrainer(model, source, training, steps=STEPS))
    between = [b - a for a, b in pairwise(clock.marks)]
    steps = [t for place, t in enumerate(between, start=1) if place % EVERY]
    epoch = statistics.median(steps) * (len(source) // training.batch)
    return statistics.median(looks.seconds) / epoch


def main() -> None:
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    source = open_data(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10").train
    shares = {name: share(name, source) for name in SEVEN}
    finish(
        "health", {}, [Bar(f"{name}, a look over an epoch", s, 0.03) for name, s in shares.items()]
    )


if __name__ == "__main__":
    main()
