"""The encoders of AMDIM and CPC, encoders around encoders, and grids of patches."""

import pytest
import torch

from counterpoint.framework import PartError
from counterpoint.parts.encoders import (
    CPC_RESNET50,
    CPC_RESNET101,
    CPC_SMALL,
    AMDIMEncoder,
    CPCResNet,
    Headed,
    MomentumEncoder,
    NarrowResNet,
    PerView,
    ResNet,
)
from counterpoint.parts.encoders.amdim_encoder import Head, Residual
from counterpoint.parts.views import Patches


def millions(settings, side):
    with torch.device("meta"):
        encoder = settings.build(((3, side, side),))
    return sum(p.numel() for p in encoder.parameters()) / 1e6


@pytest.mark.parametrize(
    ("side", "width", "rkhs", "depth", "published"),
    [
        (32, 320, 1280, 10, 163.8),  # the paper's, CIFAR-10
        (64, 192, 1536, 8, 208.2),  # STL-10
        (128, 320, 2560, 10, 666.0),  # ImageNet
        (32, 128, 1024, 3, 20.1),  # amdim-public's default
        (32, 256, 2048, 10, 127.9),  # its author's large one
    ],
)
def test_amdim_has_the_published_sizes(side, width, rkhs, depth, published):
    """Theirs makes batch norms that are never used, and they are in the published counts."""
    with torch.device("meta"):
        net = AMDIMEncoder(width=width, rkhs=rkhs, depth=depth).build(((3, side, side),)).backbone
    found = sum(p.numel() for p in net.parameters())
    stem = [m for m in net.stem if isinstance(m, torch.nn.Conv2d)]
    inner = [m for m in net.modules() if isinstance(m, Residual | Head)]
    unused = sum(2 * m.out_channels for m in stem) + sum(2 * m.conv1.out_channels for m in inner)
    unused += 2 * net.stacks[-1][0].conv1.out_channels  # one between the stacks
    assert (found + unused) / 1e6 == pytest.approx(published, abs=0.051)


@pytest.mark.parametrize("side", [32, 64, 128])
def test_amdim_gives_seven_five_and_one(side):
    encoder = AMDIMEncoder(width=8, rkhs=24, depth=2).build(((3, side, side),) * 2)
    for maps in encoder((torch.randn(2, 3, side, side),) * 2):
        assert [tuple(m.shape) for m in maps] == [(2, 24, 7, 7), (2, 24, 5, 5), (2, 24, 1, 1)]


@pytest.mark.parametrize("side", [8, 16, 32])
def test_amdim_takes_patches(side):
    encoder = AMDIMEncoder(width=4, rkhs=12, depth=1).build(((3, 3, 3, side, side),))
    (maps,) = encoder((torch.randn(2, 3, 3, 3, side, side),))
    assert [m.shape[2:] for m in maps] == [(3, 3)] * 3  # so that all of table 2 can be asked
    assert maps[-1].shape == (2, 12, 3, 3)


def test_amdim_refuses_other_sides():
    with pytest.raises(PartError, match=r"encoder: got .*\[48\] pixels, needs one side of 8, 16"):
        AMDIMEncoder().build(((3, 48, 48),))


def test_a_residual_starts_as_its_shortcut():
    x = torch.randn(2, 4, 6, 6)
    grown = Residual(4, 7, 2, 2)(x)
    pooled = torch.nn.functional.avg_pool2d(x, 2)
    torch.testing.assert_close(grown[:, :4], pooled)
    assert (grown[:, 4:] == 0).all()


def test_cpc_resnet_sizes():
    """bolts' CPCResNet101 has 326.5 million with norms as large as the maps (patch 8)."""
    assert millions(CPC_RESNET101, 8) == pytest.approx(326.5, rel=0.03)
    assert millions(CPC_RESNET50, 8) < 0.5 * millions(CPC_RESNET101, 8)
    assert millions(CPC_SMALL, 8) < 0.5


def test_cpc_resnet_is_the_papers():
    """46 blocks with a bottleneck of 512 and 4,096 maps in the third stack; no batch norm."""
    with torch.device("meta"):
        net = CPC_RESNET101.build(((3, 16, 16),)).backbone
    assert len(net.layer3) == 46
    assert net.layer3[5].conv2.in_channels == 512
    assert net.layer3[5].conv3.out_channels == 4096
    assert not any(isinstance(m, torch.nn.BatchNorm2d) for m in net.modules())


@pytest.mark.parametrize(
    "settings",
    [
        CPCResNet(blocks=(1, 1), bottlenecks=(4, 4), widths=(8, 12), stem=4),
        ResNet("resnet18"),
        NarrowResNet(widths=(4, 8), blocks=(1, 1)),
    ],
)
def test_a_grid_of_patches_is_one_map(settings):
    """Each place of the map is its own patch: (b, p, p, c, q, q) -> (b, c, p, p)."""
    stage = Patches(8, overlap=4)
    images = torch.randn(2, 3, 24, 24)
    encoder = settings.build((stage.shape((3, 24, 24)),)).eval()
    ((*_, one),) = encoder((stage(images),))
    patch = images[1:, :, 8:16, 4:12]
    ((*_, alone),) = encoder((patch,))
    torch.testing.assert_close(one[1, :, 2, 1], alone.mean(dim=(2, 3))[0])
    assert one.shape[-2:] == (5, 5)


def test_no_patch_sees_another():
    """Layer norm: the gradient of one place reaches only its own patch, in training too."""
    encoder = CPC_SMALL.build(((3, 3, 3, 8, 8),)).train()
    patches = torch.randn(2, 3, 3, 3, 8, 8, requires_grad=True)
    ((*_, one),) = encoder((patches,))
    one[1, :, 0, 2].sum().backward()
    touched = patches.grad.abs().sum(dim=(3, 4, 5)) > 0
    assert touched.nonzero().tolist() == [[1, 0, 2]]


def test_a_head_is_one_more_map():
    settings = Headed(of=NarrowResNet(widths=(4, 8), blocks=(1, 1)), out=5, hidden=6, norm=True)
    encoder = settings.build(((3, 16, 16),) * 2)
    first, _ = encoder((torch.randn(3, 3, 16, 16), torch.randn(3, 3, 16, 16)))
    assert [tuple(m.shape[1:]) for m in first] == [(4, 8, 8), (8, 4, 4), (5, 1, 1)]
    assert encoder.probe == -2


def test_a_twin_has_the_head_too():
    pair = MomentumEncoder(of=Headed(of=NarrowResNet(widths=(4,), blocks=(1,)), out=5)).build(
        ((3, 16, 16),)
    )
    assert any(name.startswith("head") for name, _ in pair.twin.named_parameters())


def test_each_view_has_its_encoder():
    narrow = NarrowResNet(widths=(4,), blocks=(1,))
    settings = PerView(of=(Headed(of=narrow, out=5), Headed(of=narrow, out=5)))
    encoder = settings.build(((1, 16, 16), (2, 16, 16)))
    first, second = encoder((torch.randn(2, 1, 16, 16), torch.randn(2, 2, 16, 16)))
    assert first[-1].shape == second[-1].shape == (2, 5, 1, 1)
    with pytest.raises(PartError, match="2 encoders for 1 views"):
        settings.build(((1, 16, 16),))
