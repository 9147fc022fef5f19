"""What the uses share: a small encoder, and a run of two steps on 64 images."""

import pytest
import torch

from counterpoint import NarrowResNet, pretrain, training_of


@pytest.fixture(scope="session")
def small():
    """An encoder that trains in a moment."""
    return NarrowResNet(widths=(8, 16), blocks=(1, 1))


@pytest.fixture
def train(cifar, tmp_path):
    """Pretrain a method for two steps of 32 images by SimCLR's recipe, with other settings."""

    def run(method, *, out="run", steps=2, batch=32, settings=None, data=None, **more):
        training = training_of("simclr", batch=batch, **settings or {})
        quiet = {"health": False, "accelerator": "cpu"}
        data = data or cifar.train.subset("first 64", torch.arange(64))
        return pretrain(
            method, data, out=tmp_path / out, steps=steps, training=training, **quiet | more
        )

    return run
