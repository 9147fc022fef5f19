"""Two training steps of every preset on the pretend accelerator, which refuses a mix-up."""

import pytest
import torch

from accelerator import DEVICE, pretend
from counterpoint import NarrowResNet
from counterpoint.framework import ALONE, Draw, Samples, contrast, twins
from counterpoint.framework.model import reaching_all
from counterpoint.methods import ALL, METHODS, training_of
from counterpoint.training.optimisers import optimiser

SMALL = NarrowResNet(widths=(8, 8, 8))
COUNT, SIZE = 6, 32


def losses(method, training, device, dtype=None):
    """Train for two steps, as the shell does; the second finds a queue or a bank filled."""
    torch.manual_seed(0)
    model = method.build(image=(3, SIZE, SIZE)).to(device)
    chosen = optimiser(model, training)
    images = torch.randint(256, (2, COUNT, 3, SIZE, SIZE), dtype=torch.uint8)
    found = []
    for step in range(2):
        host = torch.arange(COUNT) + step * COUNT
        index = host.to(device)
        with torch.autocast(device.type, dtype, enabled=dtype is not None):
            views = model.views(images[step].to(device), Draw(0, 0, index))
            samples = Samples(host, labels=host % 3 if model.needs_labels else None)
            loss = reaching_all(contrast(model, views, samples, ALONE), model)
        chosen.zero_grad()
        loss.backward()
        chosen.step()
        for twin in twins(model):
            twin.step(0.5)
        found.append(float(loss.detach()))
    assert all(p.grad.device == device for p in model.parameters() if p.requires_grad)
    return found


QUICK = {f"{name}-small" for name in ALL} | {"moco", "cmc", "simclr", "amdim-paper", "cpc-paper"}
EVERY = [pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in METHODS]


@pytest.mark.parametrize("name", EVERY)
def test_a_small_network_of_every_preset(name):
    method = METHODS[name](SMALL, size=SIZE)
    expected = losses(method, training_of(name), torch.device("cpu"))
    with pretend():
        found = losses(method, training_of(name), DEVICE)
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.full
@pytest.mark.parametrize("name", METHODS)
def test_every_preset_with_its_own_encoder(name):
    with pretend():
        found = losses(METHODS[name](size=SIZE), training_of(name), DEVICE)
    assert torch.tensor(found).isfinite().all()


@pytest.mark.full
@pytest.mark.parametrize("name", ALL)
def test_in_bf16(name):
    """Autocast as on a GPU: no crash, and a loss near that of fp32."""
    method = METHODS[f"{name}-small"](SMALL, size=SIZE)
    with pretend():
        exact = losses(method, training_of(f"{name}-small"), DEVICE)
        found = losses(method, training_of(f"{name}-small"), DEVICE, torch.bfloat16)
    assert found == pytest.approx(exact, rel=0.05)


@pytest.mark.full
@pytest.mark.parametrize("name", ALL)
def test_without_float64(name):
    """Apple's MPS has none."""
    with pretend("mps"):
        losses(METHODS[f"{name}-small"](SMALL, size=SIZE), training_of(f"{name}-small"), DEVICE)
