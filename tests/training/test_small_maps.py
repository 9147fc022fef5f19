"""Convolutions with small maps: values are torch's, the gradient of the weights is a product."""

import copy
import pickle
import subprocess
import sys
from dataclasses import asdict, replace

import pytest
import torch
from tests.reference import convolution
from torch import nn

from counterpoint import pretrain, training_of
from counterpoint.doctor import compile_trial
from counterpoint.methods import METHODS
from counterpoint.pretraining import built_model
from counterpoint.resolve import resolve
from counterpoint.training import small_maps
from counterpoint.training.small_maps import (
    SmallMapConv2d,
    multiply_small_maps,
    plain_convolutions,
    weight_gradient,
)

SHAPES = [
    ((3, 3), (1, 1), (1, 1), (4, 4)),
    ((3, 3), (2, 2), (1, 1), (5, 4)),
    ((1, 1), (2, 2), (0, 0), (4, 4)),
    ((3, 2), (1, 2), (0, 1), (4, 5)),
    ((4, 4), (3, 3), (2, 2), (3, 3)),  # some pixels of the padding belong to no patch
]


@pytest.mark.parametrize(("kernel", "stride", "padding", "side"), SHAPES)
def test_the_gradient_is_that_of_the_loops(kernel, stride, padding, side):
    torch.manual_seed(0)
    maps = torch.randn(2, 3, *side, dtype=torch.float64)
    weight = torch.randn(2, 3, *kernel, dtype=torch.float64, requires_grad=True)
    values = nn.functional.conv2d(maps, weight, None, stride, padding)
    gradient = torch.randn_like(values)
    found = weight_gradient(maps, gradient, kernel, stride, padding)
    torch.testing.assert_close(
        found, convolution.weight_gradient(maps, gradient, kernel, stride, padding)
    )
    values.backward(gradient)
    torch.testing.assert_close(found, weight.grad)


def pair(channels=32, **settings):
    """A convolution of torch's, and one of ours with the same weights."""
    torch.manual_seed(0)
    theirs = nn.Conv2d(channels, 24, 3, padding=1, bias=False, **settings)
    theirs.to(memory_format=torch.channels_last)
    ours = copy.deepcopy(theirs)
    multiply_small_maps(ours)
    assert type(ours) is SmallMapConv2d
    return theirs, ours


def stepped(conv, maps, *, half=True):
    """The values, and the gradients of the maps and of the weights."""
    maps = maps.clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        values = conv(maps)
    values.float().square().sum().backward()
    return values, maps.grad, conv.weight.grad


def watched(monkeypatch):
    calls = []
    real = small_maps.weight_gradient
    monkeypatch.setattr(
        small_maps, "weight_gradient", lambda *given: calls.append(given) or real(*given)
    )
    return calls


@pytest.mark.parametrize("stride", [1, 2])
def test_in_bf16_only_the_gradient_of_the_weights_is_summed_in_another_order(stride, monkeypatch):
    calls = watched(monkeypatch)
    theirs, ours = pair(stride=stride)
    maps = torch.randn(64, 32, 5, 5)
    values, of_maps, of_weight = stepped(theirs, maps)
    assert not calls
    found = stepped(ours, maps)
    assert len(calls) == 1
    assert torch.equal(found[0], values)
    assert torch.equal(found[1], of_maps)
    exact = stepped(copy.deepcopy(theirs).double(), maps.double(), half=False)[2]
    assert (found[2] - exact).norm() < 1.05 * (of_weight - exact).norm()


@pytest.mark.parametrize(
    ("side", "channels", "half"), [(6, 32, True), (4, 31, True), (4, 32, False)]
)
def test_larger_maps_few_channels_and_fp32_are_torchs(side, channels, half, monkeypatch):
    calls = watched(monkeypatch)
    theirs, ours = pair(channels)
    maps = torch.randn(8, channels, side, side)
    assert all(map(torch.equal, stepped(theirs, maps, half=half), stepped(ours, maps, half=half)))
    assert not calls


def test_without_a_gradient_it_is_torchs(monkeypatch):
    theirs, ours = pair()
    monkeypatch.setattr(small_maps._Convolution, "apply", None)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(theirs(torch.ones(2, 32, 4, 4)), ours(torch.ones(2, 32, 4, 4)))
    ours.weight.requires_grad_(False)
    maps = torch.randn(2, 32, 4, 4, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        ours(maps).sum().backward()
    assert maps.grad is not None


@pytest.mark.parametrize("form", [torch.contiguous_format, torch.channels_last])
def test_maps_have_the_order_in_memory_that_torch_gives_them(form, monkeypatch):
    """An encoder may ask for a view of them."""
    calls = watched(monkeypatch)
    theirs, ours = (conv.to(memory_format=form) for conv in pair())
    maps = torch.randn(8, 32, 4, 4).to(memory_format=form)
    (values, *_), (found, *_) = stepped(theirs, maps), stepped(ours, maps)
    assert found.stride() == values.stride()
    assert len(calls) == 1


def test_one_that_was_parametrised_keeps_its_parametrisation():
    _, ours = pair()
    network = nn.Sequential(ours)
    nn.utils.parametrizations.weight_norm(network[0])
    plain_convolutions(network)
    assert network[0](torch.ones(1, 32, 4, 4)).shape == (1, 24, 4, 4)


@pytest.mark.parametrize(
    "settings",
    [
        {"groups": 2},
        {"dilation": 2},
        {"bias": True},
        {"padding": "same"},
        {"padding_mode": "circular"},
    ],
)
def test_others_stay_torchs(settings):
    conv = nn.Conv2d(4, 4, 3, **{"bias": False, "padding": 1, **settings})
    multiply_small_maps(conv)
    assert type(conv) is nn.Conv2d


def test_what_changes_later_is_torchs():
    """Folding a batch norm gives a layer a bias; an image may come without a batch."""
    theirs, ours = pair()
    for conv in (theirs, ours):
        conv.bias = nn.Parameter(torch.ones(24))
    maps = torch.randn(2, 32, 4, 4)
    assert all(map(torch.equal, stepped(theirs, maps), stepped(ours, maps)))
    theirs, ours = pair()
    assert all(map(torch.equal, stepped(theirs, maps[0]), stepped(ours, maps[0])))


def test_copies_have_their_own_weights_and_names_stay():
    _, ours = pair()
    for copied in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert type(copied) is SmallMapConv2d
        assert list(copied.state_dict()) == ["weight"]
        with torch.no_grad():
            copied.weight.zero_()
        assert ours.weight.abs().sum() > 0
    assert repr(ours).startswith("Conv2d(32, 24")


def job(images, **settings):
    training = training_of("simclr-small", batch=16, precision="bf16-mixed", **settings)
    return resolve(METHODS["simclr-small"](size=32), images, training=training, steps=3)


@pytest.fixture
def units(monkeypatch):
    """Pretend that this machine has matrix units for bf16, or has none."""
    have = {"amx_bf16": True}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: have)
    return have


@pytest.fixture
def images():
    return torch.randint(256, (48, 3, 32, 32), dtype=torch.uint8)


def test_what_is_built_for_training_has_them(images, units):
    convs = [m for m in built_model(job(images)).modules() if isinstance(m, nn.Conv2d)]
    assert convs
    assert {type(conv) for conv in convs} == {SmallMapConv2d}
    given = job(images)
    full = replace(given, training=replace(given.training, precision="32-true"))
    assert not any(isinstance(m, SmallMapConv2d) for m in built_model(full).modules())
    units["amx_bf16"] = False
    assert not any(isinstance(m, SmallMapConv2d) for m in built_model(given).modules())


def test_doctor_compares_compiling_with_what_is_trained(images, units, monkeypatch):
    built = []
    monkeypatch.setattr(compile_trial, "racer", lambda build, *_, **__: built.append(build()))
    monkeypatch.setattr(compile_trial, "race", lambda *_, **__: [])
    given = job(images)
    asked = {"method": given.method.to_json(), "training": asdict(given.training), "threads": 1}
    asked |= {"image": given.image, "batch": 16, "precision": "bf16-mixed"}
    compile_trial.measured_pair(asked)
    assert len(built) == 2
    for model in built:
        assert any(isinstance(m, SmallMapConv2d) for m in model.modules())


def test_runs_repeat_and_blocks_that_are_computed_again_give_the_same(
    images, tmp_path, monkeypatch, units
):
    calls = watched(monkeypatch)
    plain = pretrain(job(images), out=tmp_path / "plain", health=False)
    assert calls
    assert not any(isinstance(m, SmallMapConv2d) for m in plain.model.modules())
    finished = pretrain(job(images), out=tmp_path / "plain", health=False, resume="auto")
    for run in (plain, finished):
        torch.fx.symbolic_trace(run.encoder.backbone)
    again = pretrain(job(images), out=tmp_path / "again", health=False)
    kept = replace(job(images).training, checkpoint_activations=True)
    less = pretrain(replace(job(images), training=kept), out=tmp_path / "less", health=False)
    for other in (again, less):
        for name, tensor in plain.model.state_dict().items():
            assert torch.equal(tensor, other.model.state_dict()[name]), name


COMPILED = """
import torch
from counterpoint.framework.momentum import compiled
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.training import small_maps
encoder = NarrowResNet(widths=(32,), blocks=(1,)).build(((3, 8, 8),))
small_maps.multiply_small_maps(encoder)
small_maps.weight_gradient = None
compiled(encoder)
with torch.autocast("cpu", torch.bfloat16):
    ((maps,),) = encoder((torch.rand(4, 3, 8, 8),))
maps.float().square().mean().backward()
"""


def test_a_compiled_encoder_is_torchs():
    """In a process of its own: types that are checked at every call cannot be compiled."""
    subprocess.run([sys.executable, "-c", COMPILED], check=True)
