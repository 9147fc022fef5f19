"""Blocks that are computed again: the same gradient, the same statistics, less kept."""

import copy

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

from counterpoint.framework.blocks import LARGE, blocks_of
from counterpoint.parts.encoders import NarrowResNet, Timm
from counterpoint.training.recomputation import keep_activations, recompute_blocks

SHAPE = (3, 16, 16)


def stepped(network, images):
    """The gradient and the buffers behind a step, and the numbers that were kept for it."""
    kept = []
    with saved_tensors_hooks(
        lambda saved: kept.append(saved.numel()) or saved, lambda saved: saved
    ):
        loss = sum(m.square().mean() for maps in network((images,)) for m in maps)
    loss.backward()
    gradient = {name: weight.grad for name, weight in network.named_parameters()}
    return gradient, dict(network.named_buffers()), sum(kept)


def test_gradient_and_statistics_are_the_same_and_less_is_kept():
    torch.manual_seed(0)
    plain = NarrowResNet(widths=(8, 8), blocks=(2, 2), stride=1).build((SHAPE,)).double()
    again = copy.deepcopy(plain)
    assert len(recompute_blocks(again)) == 4
    images = torch.randn(4, *SHAPE, dtype=torch.float64)
    gradient, buffers, kept = stepped(plain, images)
    found, statistics, less = stepped(again, images)
    assert less < 0.5 * kept
    for wanted, got in ((gradient, found), (buffers, statistics)):
        assert wanted.keys() == got.keys()
        for name, tensor in wanted.items():
            assert torch.equal(tensor, got[name]), name


def test_it_is_taken_back():
    network = NarrowResNet(widths=(8, 8), blocks=(1, 1), stride=1).build((SHAPE,))
    blocks = recompute_blocks(network)
    keep_activations(blocks)
    assert all("forward" not in vars(block) for block in blocks)


def test_the_layers_of_a_transformer_are_blocks():
    network = Timm("vit_tiny_patch16_224").build((SHAPE,))
    assert blocks_of(network) == tuple(network.backbone.blocks)


class Own(nn.Module):
    """Names its one block; its list is never called."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Sequential(nn.Linear(2, 2)), nn.Linear(2, 2)])
        self.inner = nn.Sequential(nn.Linear(2, 2), nn.ReLU())

    def block_modules(self):
        return (self.inner,)


def test_a_network_names_its_own_blocks():
    own = Own()
    assert blocks_of(nn.Sequential(own, nn.ReLU())) == (own, own.inner)


def test_a_large_layer_is_a_block():
    with torch.device("meta"):
        large = nn.Linear(LARGE, 1)
        head = nn.Sequential(large, nn.ReLU(), nn.Linear(1, 1))
    assert blocks_of(head) == (large,)
