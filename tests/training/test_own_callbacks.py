"""Callbacks and loggers of a user's own in a run, and a run that one of them ends."""

import io

import pytest
import torch
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.loggers import CSVLogger
from rich.console import Console

from counterpoint import ArraySource, NarrowResNet, Training, pretrain, simclr
from counterpoint.run import steps_done

METHOD = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)))
STEPS = 8


class EndsAt(Callback):
    """Asks for the end of training after a step, as Lightning's Timer and EarlyStopping do."""

    def __init__(self, step):
        self.step = step

    def on_train_batch_end(self, trainer, *_others):
        if trainer.global_step == self.step:
            trainer.should_stop = True


def trained(out, **asked):
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (64, 3, 16, 16), generator=generator, dtype=torch.uint8)
    return pretrain(
        METHOD,
        ArraySource("noise", images),
        out=out,
        training=Training(batch=16, optimiser="sgd", lr=0.1),
        steps=STEPS,
        health=False,
        accelerator="cpu",
        console=Console(file=io.StringIO()),
        **asked,
    )


@pytest.mark.parametrize("end", [4, 6])  # of an epoch, and in the middle of one
def test_a_run_that_a_callback_ends_is_resumed_from_there(tmp_path, end):
    trained(tmp_path / "run", callbacks=[EndsAt(end)])
    assert steps_done(tmp_path / "run") == end
    assert [step.name for step in (tmp_path / "run/checkpoints").glob("step-*")] == [
        f"step-{end:08}"
    ]
    seen = []

    class Seen(Callback):
        def on_train_batch_end(self, trainer, *_others):
            seen.append(trainer.global_step)

    again = trained(tmp_path / "run", resume="auto", callbacks=[Seen()])
    assert seen == list(range(end + 1, STEPS + 1))
    whole = trained(tmp_path / "whole")
    pairs = zip(again.model.parameters(), whole.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_one_callback_and_one_logger_need_no_list(tmp_path):
    ends = EndsAt(1)
    trained(tmp_path / "one", callbacks=ends, loggers=CSVLogger(tmp_path / "logs"), plugins=None)
    assert steps_done(tmp_path / "one") == 1
    assert list((tmp_path / "logs").rglob("metrics.csv"))


def test_a_trial_of_one_batch_is_refused_with_what_to_write(tmp_path):
    with pytest.raises(ValueError, match="fast_dev_run is not given to the Trainer; write steps=1"):
        trained(tmp_path / "run", fast_dev_run=True)
