"""Use 12: supervised contrastive learning, by labels (Khosla et al. 2020)."""

import lightning as L
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from counterpoint import NCE, ArraySource, ByLabel, ContrastiveModule, simclr, training_of


def supervised(encoder):
    return simclr(encoder).swap(extraction=ByLabel(), loss=NCE(denominator="all"))


def test_labels_come_from_the_data(small, train):
    run = train(supervised(small))
    assert run.method.needs_labels


def test_data_without_labels_is_refused(small, train, cifar):
    bare = ArraySource("bare", cifar.train.images[:64])
    with pytest.raises(ValueError, match="bare has no labels, and a part of the method needs them"):
        train(supervised(small), data=bare)


@pytest.mark.filterwarnings("ignore::UserWarning")  # Lightning's advice on workers
def test_labels_of_a_loader_of_ones_own(small, cifar):
    training = training_of("simclr")
    module = ContrastiveModule(supervised(small), image=(3, 32, 32), training=training)
    images, labels = cifar.train.images[:32], cifar.train.labels[:32]
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = L.Trainer(max_steps=1, accelerator="cpu", enable_checkpointing=False, **quiet)
    with pytest.raises(ValueError, match=r"labels.*\(images, labels\)"):
        trainer.fit(module, DataLoader(images, batch_size=16))
    trainer = L.Trainer(max_steps=1, accelerator="cpu", enable_checkpointing=False, **quiet)
    trainer.fit(module, DataLoader(TensorDataset(images, labels), batch_size=16))
    assert torch.isfinite(trainer.callback_metrics["loss"])
