"""Use 10: accumulate gradients, clip them."""

import csv

import pytest
import torch
from lightning.pytorch.callbacks import Callback

from counterpoint import simclr


def test_a_batch_in_parts_is_one_update_with_the_mean_loss(small, train, tmp_path):
    run = train(simclr(small), settings={"accumulate": 2}, gradient_clip_val=1.0)
    assert run.training.micro_batch == 16
    rows = list(csv.DictReader((tmp_path / "run" / "metrics.csv").read_text().splitlines()))
    assert len(rows) == 2, "two updates of 32 images each"
    assert 2.5 < float(rows[0]["loss"]) < 4.5, "of 32 candidates, not half of it"


def test_it_is_not_given_to_the_trainer(small, train):
    with pytest.raises(ValueError, match=r"write training=training_of\(method, accumulate=4\)"):
        train(simclr(small), accumulate_grad_batches=2)


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
def test_gradients_are_clipped(precision, small, train):
    norms = []

    class Norm(Callback):
        def on_before_optimizer_step(self, trainer, module, _optimizer):
            gradients = [p.grad for p in module.parameters() if p.grad is not None]
            norms.append(torch.nn.utils.get_total_norm(gradients).item())

        def on_train_batch_end(self, trainer, module, *_):
            self.on_before_optimizer_step(trainer, module, None)

    settings = {"precision": precision}
    train(simclr(small), settings=settings, gradient_clip_val=1e-3, callbacks=[Norm()])
    before, after = norms[:2]  # LARS scales the gradients in place, after they were clipped
    assert before > 1
    assert after < before / 100
