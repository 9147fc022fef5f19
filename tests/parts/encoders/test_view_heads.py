"""A head for each view: equal to loops over patches, and the first view alone is enough."""

import pytest
import torch

from counterpoint.framework import PartError
from counterpoint.parts.encoders import MomentumEncoder, NarrowResNet, ViewHeads

SIMPLE = NarrowResNet(widths=(4, 6), blocks=(1, 1))
SHAPES = ((3, 16, 16), (3, 3, 3, 8, 8))


def built():
    torch.manual_seed(0)
    encoder = ViewHeads(of=SIMPLE, out=5).build(SHAPES).double()
    return encoder, tuple(torch.randn(4, *shape, dtype=torch.float64) for shape in SHAPES)


def test_it_equals_loops():
    encoder, views = built()
    image, patches = encoder(views)
    (_, _, whole), (_, each, _, every) = (list(head) for head in encoder.head)
    for n in range(4):
        mean = image[-2][n].mean(dim=(1, 2))
        torch.testing.assert_close(image[-1][n, :, 0, 0], whole.weight @ mean + whole.bias)
        row = []
        for y in range(3):
            for x in range(3):
                row += (each.weight @ patches[-2][n, :, y, x] + each.bias).tolist()
        wanted = every.weight @ torch.tensor(row, dtype=torch.float64) + every.bias
        torch.testing.assert_close(patches[-1][n, :, 0, 0], wanted)


def test_the_order_of_the_patches_matters():
    encoder, (_, patches) = built()
    encoder.eval()
    turned = patches.flip(1)
    (_, one), (_, other) = (
        encoder((torch.zeros(4, 3, 16, 16).double(), p)) for p in (patches, turned)
    )
    assert not torch.allclose(one[-1], other[-1], atol=1e-3)


def test_evaluation_needs_the_first_view_alone():
    encoder, views = built()
    encoder.eval()
    (alone,), (both, _) = encoder(views[:1]), encoder(views)
    assert all(torch.equal(one, other) for one, other in zip(alone, both, strict=True))
    assert encoder.probe == -2


def test_a_twin_inside_is_refused():
    with pytest.raises(PartError, match=r"write MomentumEncoder\(of=ViewHeads\(of=\.\.\.\)\)"):
        ViewHeads(of=MomentumEncoder(of=SIMPLE)).build(SHAPES)
