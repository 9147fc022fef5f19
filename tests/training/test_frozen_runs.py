"""Runs of earlier versions open, embed, report and resume for ever: tests/golden/make_runs.py."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from counterpoint.report import write_report
from counterpoint.run import Run
from golden.make_runs import methods, settings, splits, train

FROZEN = Path(__file__).parents[1] / "golden" / "runs"
CLOSE = {"atol": 1e-6, "rtol": 0.0}


@pytest.fixture
def frozen(tmp_path):
    """A copy: reports and checkpoints are written next to a run."""
    return shutil.copytree(FROZEN, tmp_path / "runs")


@pytest.mark.parametrize("name", ["byol", "simclr-files"])
def test_a_frozen_run_opens_and_embeds_as_it_did(name, frozen, data, tmp_path):
    run = Run.open(frozen / name)
    assert run.method.fingerprint == methods()[name].fingerprint
    assert run.training == settings(name)
    eight = splits(name, data, tmp_path).train.subset("eight", torch.arange(8))
    wanted = load_file(frozen / name / "vectors.safetensors")["vectors"]
    torch.testing.assert_close(run.embed(eight), wanted, **CLOSE)


@pytest.mark.parametrize("name", ["byol", "simclr-files", "cmc-stopped"])
def test_a_frozen_run_is_reported(name, frozen):
    written = write_report([frozen / name], frozen / "report.html")
    text = written.read_text()
    assert "counterpoint pretrain DATA" in text
    assert _read(frozen / name / "run.json")["data"] in text


@pytest.mark.parametrize("name", ["byol", "simclr-files"])
def test_a_frozen_run_that_ended_has_nothing_to_do(name, frozen, data, tmp_path, capsys):
    run, losses = train(name, splits(name, data, tmp_path), frozen / name, resume="auto")
    assert not losses
    assert "nothing to do" in " ".join(capsys.readouterr().err.split())
    assert run is not None


def test_a_frozen_run_that_was_stopped_is_resumed(frozen, data, tmp_path):
    name = "cmc-stopped"
    given = splits(name, data, tmp_path)
    wanted = {int(step): loss for step, loss in _read(frozen / name / "losses.json").items()}
    run, losses = train(name, given, frozen / name, resume="auto")
    assert min(losses) == 7
    assert max(losses) == 12
    for step, loss in losses.items():
        assert loss == pytest.approx(wanted[step], abs=1e-6)
    vectors = run.embed(given.train.subset("eight", torch.arange(8)))
    kept = load_file(frozen / name / "vectors.safetensors")["vectors"]
    torch.testing.assert_close(vectors, kept, **CLOSE)


def _read(file):
    return json.loads(file.read_text())
