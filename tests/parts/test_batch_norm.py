"""Grouped batch norm against torch's, one group at a time."""

import copy

import pytest
import torch
from torch import nn

from counterpoint.parts.batch_norm import GroupedBatchNorm, regroup
from counterpoint.parts.encoders import Headed, NarrowResNet, QueryKeyEncoder
from counterpoint.parts.norm_conversion import replace_norms

EXACT = {"atol": 1e-12, "rtol": 0}


def normed(shape, seed=0):
    """Rows far from zero, so that a careless variance would cancel."""
    generator = torch.Generator().manual_seed(seed)
    return 100 + 3 * torch.randn(shape, generator=generator, dtype=torch.float64)


def torchs(kind, channels):
    norm = kind(channels).double()
    with torch.no_grad():
        norm.weight.normal_()
        norm.bias.normal_()
    return norm


@pytest.mark.parametrize(
    ("kind", "shape"), [(nn.BatchNorm1d, (9, 4)), (nn.BatchNorm2d, (9, 4, 3, 2))]
)
def test_one_group_is_torchs(kind, shape):
    theirs = torchs(kind, 4)
    ours = GroupedBatchNorm(copy.deepcopy(theirs))
    for step in range(3):
        x, upstream = normed(shape, step), normed(shape, 10 + step)
        inputs = [x.clone().requires_grad_(), x.clone().requires_grad_()]
        outputs = [norm(i) for norm, i in zip((theirs, ours), inputs, strict=True)]
        for output in outputs:
            output.backward(upstream)
        torch.testing.assert_close(outputs[1], outputs[0], atol=1e-11, rtol=0)
        torch.testing.assert_close(inputs[1].grad, inputs[0].grad, atol=1e-9, rtol=0)
    for name, value in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[name], value, **EXACT)
    torch.testing.assert_close(ours.weight.grad, theirs.weight.grad, atol=1e-8, rtol=0)
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x), **EXACT)


def test_each_group_is_a_batch_of_its_own():
    theirs = torchs(nn.BatchNorm2d, 4)
    ours = GroupedBatchNorm(copy.deepcopy(theirs))
    x, member = normed((10, 4, 3, 3)), torch.tensor([0, 2, 1, 0, 2])
    regroup(ours, member, 3)
    found = ours(x)  # two views of five images, one after the other
    for group in range(3):
        rows = torch.cat([member, member]) == group
        torch.testing.assert_close(found[rows], copy.deepcopy(theirs)(x[rows]), atol=1e-11, rtol=0)


def test_replacing_keeps_weights_and_their_names():
    net = NarrowResNet(widths=(4, 6), blocks=(1, 1)).build(((3, 8, 8),))
    before = net.state_dict()
    replace_norms(net)
    assert not any(isinstance(m, nn.BatchNorm2d) for m in net.modules())
    after = net.state_dict()
    assert list(after) == list(before)
    assert all(after[name].data_ptr() == before[name].data_ptr() for name in before)


def test_keys_are_shuffled_and_queries_are_not():
    encoder = Headed(of=NarrowResNet(widths=(4,), blocks=(1,)), out=5)
    pair = QueryKeyEncoder(of=encoder, groups=4).build(((3, 8, 8),) * 2)
    view = torch.randn(16, 3, 8, 8)
    seen = []
    for _ in range(2):
        pair((view, view))
        pair.target((view, view))
        norms = [m for m in pair.modules() if isinstance(m, GroupedBatchNorm)]
        in_order, shuffled = norms[0].member, norms[-1].member
        assert in_order.tolist() == sorted([0, 1, 2, 3] * 4)
        assert sorted(shuffled.tolist()) == in_order.tolist() != shuffled.tolist()
        seen.append(shuffled.tolist())
    assert seen[0] != seen[1]


def test_a_group_without_images_leaves_no_trace():
    """Three images in eight groups: five groups are empty, and no mean over nothing is taken."""
    ours, theirs = GroupedBatchNorm(nn.BatchNorm2d(4)), nn.BatchNorm2d(4)
    x = torch.randn(3, 4, 5, 5)
    regroup(ours, torch.arange(3) * 8 // 3, 8)
    found = ours(x)
    each = [theirs.train()(one[None]) for one in x]
    torch.testing.assert_close(found, torch.cat(each))
    mean = 0.1 * x.mean((2, 3)).mean(0)
    torch.testing.assert_close(ours.running_mean, mean)
    assert bool(ours.running_var.isfinite().all())


def test_the_patches_of_an_image_are_in_its_group():
    """Else queries and keys of an image share statistics, which the shuffle is to prevent."""
    net = NarrowResNet(widths=(4,), blocks=(1,)).build(((2, 2, 3, 8, 8),))
    replace_norms(net)
    norm = next(m for m in net.modules() if isinstance(m, GroupedBatchNorm))
    regroup(net, torch.tensor([0, 0, 1, 1]), 2)
    seen = []
    rows = norm._rows
    norm._rows = lambda x: seen.append(rows(x)) or seen[-1]
    net((torch.randn(4, 2, 2, 3, 8, 8),))
    assert seen[0].tolist() == [0] * 8 + [1] * 8
    net((torch.randn(4, 2, 2, 3, 8, 8),) * 2)
    assert seen[1].tolist() == ([0] * 8 + [1] * 8) * 2
    assert rows(torch.zeros(32, 4, 1, 1)).tolist() == seen[1].tolist()  # as when it runs again
    net((torch.randn(4, 3, 8, 8),))
    assert seen[2].tolist() == [0, 0, 1, 1]  # a whole image after its patches
