"""Checkpoints of earlier versions load for ever: format 1, written when it was new."""

import shutil
from pathlib import Path

import torch

from counterpoint.training.checkpoints import Checkpoints

FROZEN = Path(__file__).parents[1] / "golden" / "checkpoints"


def state():
    """What the frozen checkpoint holds; a new format gets another folder, this one stays."""
    return {
        "epoch": 3,
        "state_dict": {"model.weight": torch.arange(6, dtype=torch.float32).view(2, 3) / 7},
        "optimizer_states": [{"state": {0: {"momentum_buffer": torch.tensor([0.1, -2.5])}}}],
        "lr_schedulers": [{"base_lrs": [0.1 + 0.2], "lr_lambdas": [None]}],
        "counterpoint": {"place": {"epoch": 1, "cursor": 2, "step": 7}, "betas": (0.9, 0.999)},
        "queue": torch.tensor(2**40),
        "narrow": torch.tensor([1.5], dtype=torch.bfloat16),
        "name": "é",
        "ok": True,
    }


def test_a_checkpoint_of_format_1_loads(tmp_path):
    shutil.copytree(FROZEN, tmp_path / "copy")  # opening one may tidy up next to it
    checkpoints = Checkpoints(tmp_path / "copy")
    found, wanted = checkpoints.load(checkpoints.newest()), state()
    assert str(found) == str(wanted)
    assert torch.equal(found["state_dict"]["model.weight"], wanted["state_dict"]["model.weight"])
    assert found["narrow"].dtype == torch.bfloat16
