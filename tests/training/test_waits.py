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
from counterpoint.methods import METHODS, SEVEN, training_of
from counterpoint.parts.extraction import ByLabel
from counterpoint.parts.losses import NCE, crowded


class Waits(L.Callback):
    """The waits of the third step: nothing is made for the first time, nothing ends."""

    def __init__(self, seen):
        self.seen, self.found = seen, None

    def on_train_batch_end(self, trainer, *_):
        if trainer.global_step == 3:
            self.found = Counter(self.seen.waits)
        self.seen.clear()


def waits_of(name, folder, *, count, **swapped):
    images = torch.randint(256, (6 * 4 * count, 3, 32, 32), dtype=torch.uint8)
    labels = torch.arange(len(images)) % 3
    training = replace(training_of(name), batch=4 * count)
    with pretend() as seen, ranks(count):
        waits = Waits(seen)
        pretrain(
            METHODS[name](size=32).swap(**swapped),
            ArraySource("noise", images, labels=labels),
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


@pytest.mark.parametrize("pairs", [0, crowded.PAIRS])
def test_labels_cost_no_wait(pairs, tmp_path, monkeypatch):
    monkeypatch.setattr(crowded, "PAIRS", pairs)  # 0 walks rows of scores, as for few labels
    supervised = {"extraction": ByLabel(), "loss": NCE(denominator="all")}
    waits = waits_of("simclr-small", tmp_path, count=8, **supervised)
    assert sum(waits.values()) <= 2, waits
