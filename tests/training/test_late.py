"""On a device an update that is not finite is left out there, and the host hears of it later."""

import json

import lightning as L
import pytest
import torch

from accelerator import pretend
from accelerator.shell import on_accelerator
from counterpoint import Training, pretrain
from counterpoint.data import ArraySource
from counterpoint.training.callbacks.guard import NonFiniteError
from counterpoint.training.checkpoints import Checkpoints
from toy import tiny_method

NOISE = ArraySource("noise", torch.randint(256, (96, 3, 8, 8), dtype=torch.uint8))


class Poison(L.Callback):
    """Make the gradient of one step not a number, and watch the weights."""

    def __init__(self, step):
        self.step, self.weights = step, []

    def on_after_backward(self, trainer, pl_module):
        if trainer.global_step == self.step:
            next(pl_module.parameters()).grad.fill_(torch.nan)

    def on_train_batch_end(self, trainer, pl_module, *_):
        self.weights.append([p.detach().cpu().clone() for p in pl_module.parameters()])


@pytest.mark.parametrize(
    ("name", "save"), [("lars", 1e9), ("sgd", 1e9), ("adam", 1e9), ("adamw", 1e9), ("lars", 0)]
)
def test_a_bad_update_is_never_applied(name, save, tmp_path):
    poison = Poison(step=3)
    training = Training(batch=8, epochs=1, optimiser=name, lr=0.1, warmup=0)
    with pretend(), pytest.raises(NonFiniteError, match="the gradient is not finite at step 3;"):
        pretrain(
            tiny_method(),
            NOISE,
            out=tmp_path,
            training=training,
            save_seconds=save,
            health=False,
            patience=0,
            callbacks=[poison],
            **on_accelerator(),
        )
    assert len(poison.weights) == 4  # the bad step ends, the next one does not
    for before, after in zip(*poison.weights[2:4], strict=True):
        assert torch.equal(before, after)
    assert not torch.equal(poison.weights[1][0], poison.weights[2][0])
    assert len(json.loads((tmp_path / "nonfinite-rank-0.json").read_text())["samples"]) == 8
    newest = Checkpoints(tmp_path / "checkpoints").newest()
    assert (newest and newest.name) == ("step-00000003" if save == 0 else None)


@pytest.mark.parametrize("last", [3, 11])
def test_the_last_update_is_heard_of_too(last, tmp_path):
    """At the end of a run, in the middle of an epoch and at its end."""
    training = Training(batch=8, epochs=1, lr=0.1, warmup=0)
    with pretend(), pytest.raises(NonFiniteError, match=f"not finite at step {last};"):
        pretrain(
            tiny_method(),
            NOISE,
            out=tmp_path,
            training=training,
            steps=last + 1,
            save_seconds=1e9,
            health=False,
            patience=0,
            callbacks=[Poison(step=last)],
            **on_accelerator(),
        )
    assert not list((tmp_path / "checkpoints").glob("step-*"))
