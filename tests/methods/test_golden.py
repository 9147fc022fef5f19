"""A loss curve of twenty steps for every method: the same on any machine, and twice the same.

In float64 on real images, so that roundings of different processors stay below the bound.
After a change that is meant: `python -m methods.test_golden` in tests/, and a line in
CHANGELOG.md under changed results.
"""

import json
from pathlib import Path

import pytest
import torch

from counterpoint.framework import Draw, contrast, twins
from counterpoint.methods import METHODS, SEVEN

GOLDEN = Path(__file__).parent.parent / "golden" / "curves.json"
NAMES = [f"{name}-small" for name in SEVEN]
STEPS, BATCH, BOUND = 20, 6, 1e-5


def curve(name, images):
    torch.manual_seed(0)
    model = METHODS[name](size=32).build(image=(3, 32, 32)).double()
    chosen = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)
    losses = []
    for step in range(STEPS):
        index = torch.arange(step * BATCH, (step + 1) * BATCH)
        views = tuple(v.double() for v in model.views(images[index], Draw(0, 0, index)))
        loss = contrast(model, views, index)
        chosen.zero_grad()
        loss.backward()
        chosen.step()
        for twin in twins(model):
            twin.step(step / STEPS)
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", NAMES)
def test_the_curve_is_the_golden_one(name, cifar):
    golden = json.loads(GOLDEN.read_text())[name]
    found = curve(name, cifar.train.images)
    assert len(set(found)) > STEPS - 2  # it moves
    for ours, kept in zip(found, golden, strict=True):
        assert abs(ours - kept) <= BOUND * max(1.0, abs(kept))


@pytest.mark.parametrize("name", ["moco-small", "cmc-small", "yadim-small"])
def test_two_runs_are_equal_to_the_bit(name, cifar):
    assert curve(name, cifar.train.images) == curve(name, cifar.train.images)


if __name__ == "__main__":
    import os

    from counterpoint.data import cifar10

    real = cifar10(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10").train.images
    GOLDEN.parent.mkdir(exist_ok=True)
    curves = {name: curve(name, real) for name in NAMES}
    GOLDEN.write_text(json.dumps(curves, indent=1) + "\n")
