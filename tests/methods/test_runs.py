"""Every small method trains through the shell, is saved, opens again and embeds the same."""

import pytest
import torch

from counterpoint import ArraySource, Run, Training, pretrain
from counterpoint.methods import METHODS, SEVEN


@pytest.mark.parametrize("name", [f"{name}-small" for name in SEVEN])
def test_a_run_of_every_method(name, cifar, tmp_path):
    source = ArraySource("some", cifar.train.images[:32])
    training = Training(batch=8, optimiser="adamw", lr=1e-3)
    run = pretrain(METHODS[name](size=32), source, out=tmp_path, steps=2, training=training)
    again = Run.open(tmp_path)
    assert again.method == run.method
    images = cifar.test.images[:3]
    vectors = run.embed(images)
    assert vectors.shape[0] == 3
    assert vectors.std(dim=0).max() > 0
    assert torch.equal(again.embed(images), vectors)
