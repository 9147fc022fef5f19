"""docs/coming-from.md: lightly's code and ours, side by side, give the same loss."""

import torch

from docs.blocks import ROOT, blocks

PAGE = ROOT / "docs" / "coming-from.md"
LIGHTLY = "from lightly.loss"


def python_blocks():
    return [block.text for block in blocks(PAGE) if block.language == "python"]


def test_the_blocks_stand_side_by_side():
    start, theirs, ours, *_ = python_blocks()
    assert "z0, z1 =" in start
    assert theirs.startswith(LIGHTLY)
    assert "loss = nt_xent(z0, z1" in ours


def test_lightly_and_ours_give_the_same_loss():
    start, theirs, ours, *_ = python_blocks()
    losses = []
    for block in (theirs, ours):
        names = {}
        exec(start + block, names)
        losses.append(names["loss"])
    torch.testing.assert_close(*losses, rtol=1e-6, atol=0)
