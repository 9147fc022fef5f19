"""Our LARS against timm's, and that every optimiser leaves out an update that is not finite."""

import copy

import pytest
import torch
from timm.optim.lars import Lars as Theirs
from torch import nn

from counterpoint.framework.settings import Training
from counterpoint.training.callbacks.guard import leaves_out
from counterpoint.training.lars import Lars
from counterpoint.training.optimisers import optimiser


def network():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Linear(4, 3, bias=False)).double()
    nn.init.zeros_(net[1].bias)  # of length zero: its rate is not scaled
    return net


def groups(net, name, decay):
    large = [p for p in net.parameters() if p.ndim > 1]
    small = [p for p in net.parameters() if p.ndim <= 1]
    return [
        {"params": large, "weight_decay": decay, name: True},
        {"params": small, "weight_decay": 0.0, name: decay > 1e-3},
    ]


def gradients(net, step):
    generator = torch.Generator().manual_seed(step)
    for p in net.parameters():
        p.grad = torch.randn(p.shape, generator=generator, dtype=p.dtype)
    net[2].weight.grad *= step != 1  # no gradient at all: not scaled either


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("decay", [0.0, 1e-4, 1e-2])
def test_equals_timms(decay, nesterov):
    ours, theirs = network(), network()
    given = {"lr": 0.3, "momentum": 0.9, "nesterov": nesterov}
    mine = Lars(groups(ours, "adapt", decay), **given)
    other = Theirs(groups(theirs, "always_adapt", decay), **given)
    for step in range(4):
        for net, chosen in ((ours, mine), (theirs, other)):
            gradients(net, step)
            chosen.step()
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    assert [g["weight_decay"] for g in mine.param_groups] == [decay, 0.0]


def test_takes_up_the_state_of_timms():
    net = network()
    old = Theirs(groups(net, "always_adapt", 1e-4), lr=0.3, momentum=0.9)
    gradients(net, 0)
    old.step()
    twin = copy.deepcopy(net)
    new = Lars(groups(twin, "adapt", 1e-4), lr=0.3, momentum=0.9)
    new.load_state_dict(copy.deepcopy(old.state_dict()))
    for chosen, which in ((old, net), (new, twin)):
        gradients(which, 2)
        chosen.step()
    for a, b in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["lars", "sgd", "adam", "adamw"])
def test_a_bad_update_changes_nothing(name):
    net = network()
    chosen = optimiser(net, Training(optimiser=name, weight_decay=1e-4))
    assert leaves_out(chosen)
    gradients(net, 0)
    chosen.step()
    before = copy.deepcopy([net.state_dict(), chosen.state_dict()["state"]])
    gradients(net, 2)
    net[0].weight.grad[0, 0] = torch.nan
    chosen.found_inf = torch.ones(())
    chosen.step()
    after = [net.state_dict(), chosen.state_dict()["state"]]
    torch.testing.assert_close(after, before, rtol=0, atol=0)
    gradients(net, 3)
    chosen.found_inf = torch.zeros(())
    chosen.step()
    assert not torch.equal(net[0].weight, before[0]["0.weight"])
    assert all(p.isfinite().all() for p in net.parameters())


@pytest.mark.parametrize("name", ["lars", "sgd", "adam", "adamw"])
def test_a_loaded_state_goes_on_where_it_was_with_channels_last(name):
    """A checkpoint holds its tensors row by row, whatever the order of the weights."""
    torch.manual_seed(0)
    first = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    second = copy.deepcopy(first)
    training = Training(optimiser=name, weight_decay=1e-4)
    one, two = optimiser(first, training), optimiser(second, training)
    for step in range(3):
        for net, chosen in ((first, one), (second, two)):
            generator = torch.Generator().manual_seed(step)
            for p in net.parameters():
                p.grad = (
                    torch.randn(p.shape, generator=generator)
                    .to(p)
                    .contiguous(
                        memory_format=torch.channels_last
                        if p.dim() == 4
                        else torch.contiguous_format
                    )
                )
            chosen.step()
        saved = two.state_dict()
        saved["state"] = {
            k: {n: v.clone(memory_format=torch.contiguous_format) for n, v in state.items()}
            for k, state in saved["state"].items()
        }
        two.load_state_dict(saved)
    assert torch.equal(first.weight, second.weight)


@pytest.mark.parametrize("name", ["lars", "sgd", "adam"])
def test_a_scale_of_the_loss_changes_nothing(name):
    """A fused optimiser is given scaled gradients by `GradScaler`, in a Trainer in 16-mixed."""
    plain, scaled = (network().float() for _ in range(2))
    training = Training(optimiser=name, lr=1.0, weight_decay=1e-2, decay_norms=True)
    one, other = optimiser(plain, training), optimiser(scaled, training)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    images = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    for _ in range(3):
        plain(images).square().sum().backward()
        one.step()
        one.zero_grad()
        scaler.scale(scaled(images).square().sum()).backward()
        scaler.step(other)
        scaler.update()
        other.zero_grad()
    for a, b in zip(plain.parameters(), scaled.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
