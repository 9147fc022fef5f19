"""Use 7: resume a run, and train a finished one for longer."""

import pytest
import torch
from lightning.pytorch.callbacks import Callback

from counterpoint import Run, pretrain, simclr


class PowerCutError(Exception):
    """What ends a run in the middle."""


def test_a_run_that_was_cut_off_goes_on_to_the_bit(small, train, tmp_path):
    class Cut(Callback):
        def on_train_batch_end(self, *_):
            raise PowerCutError

    whole = train(simclr(small), out="whole")
    with pytest.raises(PowerCutError):
        train(simclr(small), out="cut", save_seconds=0, callbacks=[Cut()])
    resumed = train(simclr(small), out="cut", resume="auto")
    for one, other in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_finished_run_is_trained_for_longer_in_a_folder_of_its_own(small, train, cifar, tmp_path):
    first = train(simclr(small), out="first")
    data = cifar.train.subset("first 64", torch.arange(64))
    quiet = {"health": False, "accelerator": "cpu"}
    longer = pretrain(first, data, out=tmp_path / "longer", steps=2, **quiet)
    assert longer.method == first.method
    before, after = first.model.state_dict(), Run.open(tmp_path / "longer").model.state_dict()
    assert any(not torch.equal(before[key], after[key]) for key in before)
