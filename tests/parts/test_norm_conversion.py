"""A network whose batch norms were replaced is the same function, or is refused."""

import copy

import pytest
import timm
import torch
from timm.layers import BatchNormAct2d, SplitBatchNorm2d
from torch import nn

from counterpoint.framework import ALONE, Alone, PartError
from counterpoint.parts.batch_norm import GroupedBatchNorm, Norm
from counterpoint.parts.norm_conversion import replace_norms, share_statistics

# Each has norms that also apply an activation, or has something else about its norms.
NAMES = (
    "resnetv2_18",  # BatchNormAct2d before every convolution
    "regnetx_002",
    "mobilenetv3_small_050",
    "efficientnet_lite0",
    "ghostnet_050",
    "densenet121",  # its forward asks for norm1's activation
    "efficientvim_m1",  # its forward asks whether a norm is a batch norm
    "levit_128s",  # batch norm of (row, channel)
)


def passes(net, image):
    """Output in training mode, running statistics after it, and output in evaluation mode."""
    torch.manual_seed(0)
    trained = net.train()(image).detach()
    return trained, net.eval()(image).detach()


@pytest.mark.parametrize("name", NAMES)
def test_a_network_of_timm_stays_the_same_function(name):
    torch.manual_seed(1)
    side = {"levit_128s": 224}.get(name, 64)
    before = timm.create_model(name, num_classes=0).double()
    after = copy.deepcopy(before)
    replace_norms(after)
    norms = [m for m in after.modules() if isinstance(m, Norm)]
    assert norms
    assert all(isinstance(m, GroupedBatchNorm) for m in norms)
    assert list(after.state_dict()) == list(before.state_dict())
    image = torch.randn(3, 3, side, side).double()
    for found, expected in zip(passes(after, image), passes(before, image), strict=True):
        torch.testing.assert_close(found, expected, atol=1e-8, rtol=1e-8)
    for key, value in before.state_dict().items():
        torch.testing.assert_close(after.state_dict()[key], value, atol=1e-9, rtol=1e-9)


TWO = Alone(size=2)  # a second rank is said to be there


def test_gpus_get_synchronised_norms_that_keep_their_activation():
    torch.manual_seed(1)
    before = timm.create_model("regnetx_002", num_classes=0)
    after = copy.deepcopy(before)
    share_statistics(after, TWO, fused=True)
    norms = [m for m in after.modules() if isinstance(m, Norm)]
    assert all(isinstance(m, nn.SyncBatchNorm) for m in norms)
    assert list(after.state_dict()) == list(before.state_dict())
    image = torch.randn(2, 3, 64, 64)  # synchronised statistics need GPUs; evaluation does not
    torch.testing.assert_close(after.eval()(image), before.eval()(image), atol=0, rtol=0)


def test_groups_are_left_alone_where_gpus_synchronise():
    net = nn.Sequential(nn.BatchNorm1d(3))
    replace_norms(net)
    share_statistics(net, TWO, fused=True)
    assert isinstance(net[0], GroupedBatchNorm)
    assert net[0].world.size == 2


class Halved(nn.BatchNorm2d):
    def forward(self, x):
        return super().forward(x) / 2


def hooked():
    norm = nn.BatchNorm2d(3)
    norm.register_forward_hook(lambda module, inputs, output: output / 2)
    return norm


@pytest.mark.parametrize(
    ("norm", "named"),
    [
        (Halved(3), "a Halved with a forward of its own"),
        (SplitBatchNorm2d(3), "a SplitBatchNorm2d with a forward of its own"),
        (nn.LazyBatchNorm2d(), "a LazyBatchNorm2d with hooks"),
        (hooked(), "a BatchNorm2d with hooks"),
    ],
)
@pytest.mark.parametrize("fused", [False, True])
def test_a_norm_that_would_change_is_refused_by_its_name(norm, named, fused):
    model = nn.ModuleDict({"encoder": nn.Sequential(nn.BatchNorm2d(3), norm)})
    with pytest.raises(PartError, match=rf"encoder: got the batch norm 1, {named}") as refused:
        share_statistics(model, TWO, fused=fused)
    assert "sync_batchnorm=False" in str(refused.value)
    assert type(model["encoder"][0]) is nn.BatchNorm2d  # none is converted
    share_statistics(model, ALONE)  # nothing is converted for one process


def test_one_norm_in_two_places_stays_one():
    norm = nn.BatchNorm1d(3)
    net = nn.Sequential(norm, nn.ReLU(), nn.Sequential(norm), norm)
    net.again = norm
    replace_norms(net)
    assert net[0] is net[2][0] is net[3] is net.again
    assert isinstance(net[0], GroupedBatchNorm)


@pytest.mark.parametrize("mode", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {"affine": False},
        {"track_running_stats": False},
        {"affine": False, "track_running_stats": False},
        {"momentum": None},
        {"momentum": 0.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [nn.BatchNorm2d, BatchNormAct2d])
def test_norms_without_weights_or_memory(kind, options, mode):
    before = nn.Sequential(kind(4, **options)).double()
    after = copy.deepcopy(before)
    replace_norms(after)
    for step in range(2):
        x = torch.randn(5, 4, 3, 2, generator=torch.Generator().manual_seed(step)).double()
        found, expected = (net.train(mode)(x) for net in (after, before))
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)
    assert list(after.state_dict()) == list(before.state_dict())
    for key, value in before.state_dict().items():
        torch.testing.assert_close(after.state_dict()[key], value, atol=1e-12, rtol=0)


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("shape", [(12, 8), (12, 8, 5, 5)])
def test_statistics_are_fp32_under_autocast(shape, groups):
    """Far from zero bf16 has nothing left: its numbers around 100 are half a unit apart."""
    x = 100 + torch.randn(shape, generator=torch.Generator().manual_seed(0))
    norm = GroupedBatchNorm(nn.BatchNorm2d(8))
    exact = copy.deepcopy(norm).double()
    for one in (norm, exact):
        one.member, one.groups = (torch.arange(12) % groups, groups) if groups > 1 else (None, 1)
    with torch.autocast("cpu", torch.bfloat16):
        found = norm(x)
    torch.testing.assert_close(found.double(), exact(x.double()), atol=5e-5, rtol=0)
    for name in ("running_mean", "running_var"):
        ours, theirs = getattr(norm, name).double(), getattr(exact, name)
        torch.testing.assert_close(ours, theirs, atol=0, rtol=1e-5)
    half = x.bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        assert norm(half).dtype == torch.bfloat16
    wide = exact(half.double())
    torch.testing.assert_close(norm(half).double(), wide, atol=1e-2, rtol=1e-2)
