"""Use 16: a method in somebody's own Trainer, with their data module, callbacks and loggers."""

import os
import subprocess
import sys
from pathlib import Path

import lightning as L
import pytest
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.plugins.precision import MixedPrecision
from torch.utils.data import BatchSampler, DataLoader, TensorDataset

from counterpoint import (
    Bank,
    ContrastiveModule,
    NarrowResNet,
    ViewTransform,
    contrast,
    cpc_small,
    moco_small,
    simclr,
    training_of,
)
from counterpoint.framework import Draw
from counterpoint.training.loader_batch import number

SCRIPT = Path(__file__).with_name("own_trainer_script.py")
SMALL = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)))
QUIET = {"accelerator": "cpu", "enable_progress_bar": False, "enable_model_summary": False}


class Cifar(L.LightningDataModule):
    """What a user of Lightning has: images and labels, and no numbers of samples."""

    def __init__(self, source, *, batch=16, with_views=None):
        super().__init__()
        self.source, self.batch, self.with_views = source, batch, with_views

    def train_dataloader(self):
        pairs = TensorDataset(self.source.images[:64], self.source.labels[:64])
        if self.with_views:
            pairs = [(self.with_views(image), int(label)) for image, label in pairs]
        return DataLoader(pairs, batch_size=self.batch, shuffle=True)

    def val_dataloader(self):
        return DataLoader(TensorDataset(self.source.images[64:96]), batch_size=16)


@pytest.fixture
def trainer(tmp_path):
    def make(**settings):
        kept = ModelCheckpoint(monitor="val_loss", save_top_k=-1, save_last=True)
        logger = CSVLogger(tmp_path, name="logs", version="")
        return L.Trainer(
            default_root_dir=tmp_path,
            callbacks=[kept, LearningRateMonitor()],
            logger=logger,
            log_every_n_steps=1,
            **QUIET | {"max_epochs": 2} | settings,
        )

    return make


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # Lightning's advice on workers


def test_the_rate_is_that_of_the_loaders_batch(cifar):
    """By steps alone too: then Lightning has not opened the loader when the rate is set."""
    images = TensorDataset(cifar.train.images[:64])
    sampler = BatchSampler(range(64), 16, drop_last=True)

    def rates(loader, **length):
        seen = Rates()
        mine = L.Trainer(
            logger=False, enable_checkpointing=False, callbacks=[seen], **QUIET, **length
        )
        mine.fit(ContrastiveModule(SMALL, image=(3, 32, 32)), loader)
        return seen.found

    wanted = rates(DataLoader(images, batch_size=16), max_epochs=1)
    assert len(wanted) == 4
    assert rates(DataLoader(images, batch_size=16), max_steps=4) == wanted
    assert rates(DataLoader(images, batch_sampler=sampler), max_epochs=1) == wanted


class Rates(L.Callback):
    """The rate of every update."""

    def __init__(self):
        self.found = []

    def on_train_batch_start(self, trainer, *_):
        self.found.append(trainer.optimizers[0].param_groups[0]["lr"])


def test_a_trained_module_can_be_validated_alone(cifar):
    module = ContrastiveModule(SMALL, image=(3, 32, 32))
    loader = DataLoader(TensorDataset(cifar.train.images[:32]), batch_size=16)
    (found,) = L.Trainer(logger=False, enable_checkpointing=False, **QUIET).validate(
        module, loader, verbose=False
    )
    assert found["val_loss"] > 0


@pytest.mark.parametrize("setting", ["compile", "checkpoint_activations"])
def test_what_only_a_run_does_is_refused(setting):
    with pytest.raises(ValueError, match=f"{setting} is True, which only a run does"):
        ContrastiveModule(SMALL, image=(3, 32, 32), training=training_of(SMALL, **{setting: True}))


def test_fit_log_keep_and_load(cifar, trainer, tmp_path):
    module, mine = ContrastiveModule(SMALL, image=(3, 32, 32)), trainer()
    mine.fit(module, Cifar(cifar.train))
    assert mine.global_step == 8
    header, *rows = (tmp_path / "logs" / "metrics.csv").read_text().splitlines()
    assert {"loss", "val_loss", "lr-Lars"} <= set(header.replace("/pg1", "").split(",")), header
    assert len(rows) > 8
    last = mine.checkpoint_callback.last_model_path
    again = ContrastiveModule.load_from_checkpoint(last, method=SMALL, image=(3, 32, 32))
    some = cifar.test.images[:4]
    assert torch.equal(again.eval()(some), module.eval()(some))
    longer = trainer(max_epochs=3)
    longer.fit(ContrastiveModule(SMALL, image=(3, 32, 32)), Cifar(cifar.train), ckpt_path=last)
    assert longer.global_step == 12
    vectors = L.Trainer(logger=False, **QUIET).predict(module, Cifar(cifar.train).val_dataloader())
    assert torch.cat(vectors).shape == (32, 16)


def test_the_loss_is_that_of_contrast_and_the_rate_is_scaled_by_the_loaders_batch(cifar, trainer):
    module, mine = ContrastiveModule(SMALL, image=(3, 32, 32)), trainer(max_steps=1)
    images = cifar.train.images[:16]
    draw = Draw(0, 0, number(0, 16, rank=0, ranks=1))
    wanted = contrast(module.model, module.model.views(images, draw), draw.index)
    mine.fit(module, DataLoader(images, batch_size=16))
    assert torch.allclose(mine.callback_metrics["loss"], wanted)
    assert mine.optimizers[0].defaults["lr"] == module.training_settings.lr * 16 / 256


def test_views_made_in_the_dataset_accumulation_and_clipping(cifar, trainer):
    module = ContrastiveModule(SMALL, image=(3, 32, 32))
    mine = trainer(accumulate_grad_batches=2, gradient_clip_val=1.0, limit_val_batches=0)
    mine.fit(module, Cifar(cifar.train, with_views=ViewTransform(SMALL)))
    assert mine.global_step == 4
    assert mine.optimizers[0].defaults["lr"] == module.training_settings.lr * 32 / 256


def test_the_one_view_of_a_method_needs_no_labels_behind_it(cifar, trainer):
    """A dataset of views alone: a batch is then a list of one tensor."""
    method = cpc_small()
    see = ViewTransform(method)
    views = [see(image) for image in cifar.train.images[:16]]
    module, mine = ContrastiveModule(method, image=(3, 32, 32)), trainer(max_steps=1)
    mine.fit(module, DataLoader(views, batch_size=8))
    assert mine.global_step == 1


def test_gradients_are_clipped_in_16_mixed_too(cifar, trainer):
    """Fused optimisers divide by the scale of the losses themselves: clipping has to come after."""
    training = training_of(SMALL, optimiser="sgd")
    module = ContrastiveModule(SMALL, image=(3, 32, 32), training=training)
    half = MixedPrecision("16-mixed", "cpu", scaler=torch.amp.GradScaler("cpu", init_scale=64.0))
    mine = trainer(max_steps=1, gradient_clip_val=0.01, plugins=[half], limit_val_batches=0)
    mine.fit(module, Cifar(cifar.train))
    length = torch.nn.utils.get_total_norm([p.grad for p in module.parameters()])
    assert float(length) == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("precision", ["bf16-true", "64-true"])
def test_weights_of_another_precision_have_views_of_it(cifar, trainer, precision):
    """Views with blur are made in fp32, and come as the weights are."""
    large = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)), size=64)
    images = torch.nn.functional.interpolate(cifar.train.images[:16], (64, 64))
    module = ContrastiveModule(large, image=(3, 64, 64))
    mine = trainer(max_steps=1, precision=precision)
    mine.fit(module, DataLoader(images, batch_size=16))
    assert mine.global_step == 1
    assert mine.callback_metrics["loss"].isfinite()


def test_a_momentum_twin_moves_once_an_update(cifar, trainer):
    module = ContrastiveModule(moco_small(), image=(3, 32, 32))
    steps = []
    module.model.encoder.step = steps.append
    trainer(max_epochs=1, accumulate_grad_batches=2, limit_val_batches=0).fit(
        module, Cifar(cifar.train)
    )
    assert steps == [0.0, 0.5]  # the share of updates before this one


def test_what_does_not_fit_is_refused_with_what_to_write(cifar, trainer):
    module = ContrastiveModule(SMALL, image=(3, 32, 32))
    floats = DataLoader(cifar.train.images[:16] / 255, batch_size=8)
    with pytest.raises(ValueError, match=r"leave out ToTensor.*ViewTransform\(method\)"):
        trainer().fit(module, floats)
    with pytest.raises(ValueError, match=r"its schedule needs an end: L.Trainer\(max_epochs"):
        trainer(max_epochs=-1).fit(module, Cifar(cifar.train))
    with pytest.raises(ValueError, match=r"write L.Trainer\(accumulate_grad_batches=4\)"):
        ContrastiveModule(SMALL, image=(3, 32, 32), training=training_of(SMALL, accumulate=2))


def test_a_bank_needs_the_numbers_of_samples(cifar, trainer):
    images = cifar.train.images[:32]
    method = SMALL.swap(extraction=Bank(samples=len(images), negatives=8))
    with pytest.raises(ValueError, match="does not number them"):
        trainer().fit(ContrastiveModule(method, image=(3, 32, 32)), DataLoader(images, 8))
    numbered = [{"images": image, "index": number} for number, image in enumerate(images)]
    mine = trainer(max_epochs=1)
    mine.fit(ContrastiveModule(method, image=(3, 32, 32)), DataLoader(numbered, batch_size=8))
    assert mine.global_step == 4


@pytest.mark.parametrize("method", ["simclr-small", "byol-small", "instdisc-small"])
def test_two_devices_of_their_trainer_give_the_weights_of_one(tmp_path, method):
    """Negatives, statistics and a bank are those of all ranks: to 1e-12 in float64."""
    loopback = os.environ | {"GLOO_SOCKET_IFNAME": "lo"}
    for devices in ("1", "2"):
        command = [sys.executable, str(SCRIPT), method, devices, str(tmp_path)]
        done = subprocess.run(command, env=loopback, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    alone, first, second = (
        torch.load(tmp_path / f"rank-{name}.pt") for name in ("0-of-1", "0-of-2", "1-of-2")
    )
    torch.testing.assert_close(first["loss"], alone["loss"], rtol=0, atol=1e-12)
    torch.testing.assert_close(first["weights"], alone["weights"], rtol=0, atol=1e-12)
    torch.testing.assert_close(first["weights"], second["weights"], rtol=0, atol=0)
