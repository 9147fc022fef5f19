"""`check` and the doctor's trial on the pretend accelerator."""

import pytest
import torch

from accelerator import pretend
from counterpoint import NarrowResNet
from counterpoint.checking import check, checks
from counterpoint.checking.checks import CheckResult
from counterpoint.data import ArraySource
from counterpoint.doctor.speed import measure_speed
from counterpoint.evaluation.placing import device_of
from counterpoint.methods import METHODS, SEVEN, training_of

SMALL = NarrowResNet(widths=(8, 8, 8))
QUICK = {"simclr", "moco", "yadim"}
NAMES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in SEVEN]


@pytest.mark.parametrize("name", NAMES)
def test_check_runs_on_it(name, monkeypatch):
    """All but the comparison of one process with two, which is made on the CPU."""
    monkeypatch.setattr(
        checks, "_ranks", lambda *_: CheckResult("one process and two", "", well=True)
    )
    monkeypatch.setattr(checks, "STEPS", 12)
    method = METHODS[f"{name}-small"](SMALL, size=32)
    with pretend() as seen:
        found = {verdict.name: verdict for verdict in check(method, (3, 32, 32), count=6)}
    assert found["gradients"].well
    assert found["fp32 and bf16"].well, found["fp32 and bf16"].found
    assert found["learning"].found.startswith("the loss of one batch goes from")
    assert any(place.startswith("parts/losses") for place in seen.operators)


@pytest.mark.parametrize("name", NAMES)
def test_the_trial_of_the_doctor_runs_on_it(name, monkeypatch):
    monkeypatch.setattr("counterpoint.doctor.speed.SECONDS", 0.0)
    monkeypatch.setattr("counterpoint.doctor.speed.FEW", 8)
    monkeypatch.setattr("counterpoint.doctor.speed.LEAST", 8)
    images = torch.randint(256, (64, 3, 32, 32), dtype=torch.uint8)
    model = METHODS[f"{name}-small"](SMALL, size=32).build(image=(3, 32, 32))
    with pretend():
        trial = measure_speed(model, ArraySource("noise", images), training_of(f"{name}-small"))
        assert device_of(model).type == "pretend"
    assert trial.steps >= 2
