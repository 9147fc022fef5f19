"""Training a finished run for longer: its weights, and everything else anew."""

import io
import json

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

from counterpoint import ArraySource, pretrain
from counterpoint.cli import main
from counterpoint.methods import cmc_small, training_of
from counterpoint.parts.encoders import Headed, NarrowResNet, PerView
from counterpoint.parts.extraction import Bank
from counterpoint.resolve import resolve
from counterpoint.run import Run

TINY = NarrowResNet(widths=(8, 16), blocks=(1, 1))
HEAD = Headed(of=TINY, out=16)
METHOD = cmc_small().swap(
    encoder=PerView(of=(HEAD, HEAD)), extraction=Bank(samples=1, negatives=16)
)
TRAINING = training_of("cmc-small", batch=16, epochs=1)


def source(count=48, seed=0):
    torch.manual_seed(seed)
    return ArraySource("noise", torch.randint(256, (count, 3, 32, 32), dtype=torch.uint8))


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    out = tmp_path_factory.mktemp("first")
    return pretrain(METHOD, source(), out=out, training=TRAINING, health=False, console=_quiet())


def _quiet():
    return Console(file=io.StringIO())


def test_a_run_that_ended_is_trained_for_longer(first, tmp_path):
    said = Console(file=io.StringIO(), width=200)
    run = pretrain(first, source(), out=tmp_path, epochs=2, health=False, console=said)
    assert run.training.epochs == 2
    assert run.training.seed == 1  # views that the first run has not seen
    assert f"the weights of {first.folder.name} after 3 steps" in said.file.getvalue()
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["steps"] == 6
    assert record["job"]["start"]["folder"] == first.folder.name
    assert record["job"]["origin"] == f"the run {first.folder.name} with epochs 2"


def test_it_begins_with_the_weights_and_what_was_remembered(first):
    from counterpoint.pretraining import built_model

    before = load_file(first.folder / "model.safetensors")
    after = built_model(resolve(str(first.folder), source())).state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[key], before[key]) for key in before)
    other = built_model(resolve(first, source(80))).state_dict()  # a bank is of its images
    assert other["extraction.entries"].shape[1] == 80
    same = [key for key in before if not key.startswith("extraction.")]
    assert all(torch.equal(other[key], before[key]) for key in same)


def test_it_is_another_run_and_can_be_resumed(first, tmp_path):
    fresh = resolve(first.method, source(), training=TRAINING)
    longer = resolve(first, source(), changes={"seed": TRAINING.seed})
    assert longer.training == TRAINING
    assert longer.identity.keys() - fresh.identity.keys() == {"start"}
    whole = pretrain(longer, out=tmp_path / "whole", health=False, console=_quiet())
    again = pretrain(longer, out=tmp_path / "whole", resume="auto", console=_quiet())
    for key, value in whole.model.state_dict().items():
        assert torch.equal(value, again.model.state_dict()[key])


def test_a_longer_schedule_in_the_same_folder_is_refused_with_what_to_do(first):
    with pytest.raises(ValueError, match="--method FOLDER trains one that ended for longer"):
        pretrain(METHOD, source(), out=first.folder, training=TRAINING, epochs=2, resume="auto")


def test_the_command_trains_a_folder_for_longer(first, tmp_path, monkeypatch, capsys):
    import numpy as np

    np.save(tmp_path / "images.npy", source(100).images.permute(0, 2, 3, 1).numpy())
    out = tmp_path / "longer"
    place = str(tmp_path / "images.npy")
    main(["pretrain", place, "--method", str(first.folder), "--out", str(out), "--steps", "2"])
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "optimiser, schedule and epochs begin anew" in said
    assert Run.open(out).training.seed == 1
