"""Every small method trains through the shell, is saved, opens again and embeds the same."""

import pytest
import torch

from counterpoint import ArraySource, Run, Training, pretrain
from counterpoint.methods import ALL, METHODS, SEVEN

EVERY = [n if n in SEVEN else pytest.param(n, marks=pytest.mark.full) for n in ALL]


@pytest.mark.parametrize("name", EVERY)
def test_a_run_of_every_method(name, cifar, tmp_path):
    method = METHODS[f"{name}-small"](size=32)
    labels = cifar.train.labels[:32] if method.needs_labels else None
    source = ArraySource("some", cifar.train.images[:32], labels)
    training = Training(batch=8, optimiser="adamw", lr=1e-3)
    run = pretrain(method, source, out=tmp_path, steps=2, training=training)
    again = Run.open(tmp_path)
    assert again.method == run.method
    images = cifar.test.images[:3]
    vectors = run.embed(images)
    assert vectors.shape[0] == 3
    assert vectors.std(dim=0).max() > 0
    assert torch.equal(again.embed(images), vectors)
