"""Shuffled patches: equal to loops, no patch twice, and each within its own cell."""

import pytest
import torch

from counterpoint.framework import Draw, PartError
from counterpoint.parts.views import Jigsaw, Pipeline, RandomResizedCrop
from drawing import numbers
from reference.jigsaw import jigsaw


@pytest.mark.parametrize(("q", "cells", "side"), [(3, 3, 12), (4, 2, 8), (1, 1, 1), (5, 3, 21)])
def test_it_equals_loops(q, cells, side):
    stage = Jigsaw(q, cells=cells)
    images, drawn = torch.rand(20, 3, side, side), numbers(stage, 20)
    found = stage.rearrange(images, drawn)
    assert found.shape[1:] == stage.shape((3, side, side))
    for image, own, ours in zip(images, drawn, found, strict=True):
        wanted = torch.tensor(jigsaw(image.tolist(), own.tolist(), cells, q))
        assert torch.equal(ours.flatten(0, 1), wanted)


def test_every_cell_is_there_once_at_all_its_places():
    """Pixels say where they come from: their cell, and where in it."""
    side, q, cells = 4, 3, 3
    rows = torch.arange(12)
    cell = (rows // side)[:, None] * cells + rows // side
    inside = (rows % side)[:, None] * side + rows % side
    images = torch.stack([cell, inside]).float().repeat(500, 1, 1, 1)
    found = Jigsaw(q).rearrange(images, numbers(Jigsaw(q), 500))
    cells_found = found[:, :, :, 0].flatten(1, 2)
    assert bool((cells_found == cells_found[:, :, :1, :1]).all())  # none crosses a border
    order = cells_found[:, :, 0, 0].long()
    assert bool((order.sort(dim=1).values == torch.arange(9)).all())
    assert len({tuple(one) for one in order.tolist()}) > 490  # of 362,880 orders
    starts = found[:, :, :, 1, 0, 0].flatten()
    assert starts.unique().tolist() == [0, 1, 4, 5]
    share = torch.stack([(starts == place).float().mean() for place in (0, 1, 4, 5)])
    torch.testing.assert_close(share, torch.full((4,), 0.25), atol=0.03, rtol=0)


def test_a_pipeline_ends_in_it_and_says_the_order():
    built = Pipeline((RandomResizedCrop(12), Jigsaw(3)), views=1).build((3, 16, 16))
    draw = Draw(seed=0, epoch=0, index=torch.arange(5))
    images = torch.randint(256, (5, 3, 16, 16), dtype=torch.uint8)
    (views,), (slow,) = built(images, draw), built.unfused(images, draw)
    assert views.shape == (5, 3, 3, 3, 3, 3)
    torch.testing.assert_close(views, slow, atol=1e-6, rtol=0)
    (words,) = built.words(draw, (3, 16, 16))
    assert all(sorted(line.partition("order ")[2].split()) == list("123456789") for line in words)


def test_what_it_refuses():
    with pytest.raises(PartError, match="a multiple of 3, from 12 on"):
        Jigsaw(4).shape((3, 13, 13))
    with pytest.raises(PartError, match="patches that fit into a cell"):
        Jigsaw(5).shape((3, 12, 12))
    with pytest.raises(PartError, match="one cell at least"):
        Jigsaw(4, cells=0)
