"""A training step on the pretend accelerator, through the whole shell: where the host waits."""

from collections import Counter
from dataclasses import replace

import lightning as L
import pytest
import torch

from accelerator import pretend
from accelerator.shell import on_accelerator, ranks
from counterpoint import pretrain
from counterpoint.data import ArraySource
from counterpoint.methods import SEVEN, training_of


class Waits(L.Callback):
    """The waits of the third step: nothing is made for the first time, nothing ends."""

    def __init__(self, seen):
        self.seen, self.found = seen, None

    def on_train_batch_end(self, trainer, *_):
        if trainer.global_step == 3:
            self.found = Counter(self.seen.waits)
        self.seen.clear()


def waits_of(name, folder, *, count):
    images = torch.randint(256, (6 * 4 * count, 3, 32, 32), dtype=torch.uint8)
    training = replace(training_of(name), batch=4 * count)
    with pretend() as seen, ranks(count):
        waits = Waits(seen)
        pretrain(
            name,
            ArraySource("noise", images),
            out=folder,
            steps=4,
            training=training,
            patience=0,
            health=False,
            callbacks=[waits],
            **on_accelerator(ranks=count),
        )
    return waits.found


@pytest.mark.parametrize("count", [1, 64])
def test_lightning_never_waits(count, tmp_path):
    waits = waits_of("simclr-small", tmp_path, count=count)
    assert not [place for place in waits if place.startswith("loops/")]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("moco", 64),
        ("amdim", 1),
        *(pytest.param(n, c, marks=pytest.mark.full) for n in SEVEN for c in (1, 2, 8, 1024)),
    ],
)
def test_a_step_waits_twice_at_most(name, count, tmp_path):
    waits = waits_of(f"{name}-small", tmp_path, count=count)
    assert sum(waits.values()) <= 2, waits
