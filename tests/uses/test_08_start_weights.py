"""Use 8: start pretraining from weights."""

import json

import pytest
import torch
from safetensors.torch import load_file

from counterpoint import NarrowResNet, Timm, byol, cmc_small, open_encoder, simclr
from counterpoint.parts.encoders import innermost
from counterpoint.training.weights_place import encoder_beside


@pytest.mark.parametrize("method", [simclr, byol])
def test_pretraining_starts_from_the_weights_of_a_run(method, small, train, tmp_path):
    first = train(simclr(small), out="first")
    run = train(method(small, size=32), out="second", steps=1, weights=first, settings={"lr": 1e-9})
    before = load_file(tmp_path / "first" / "encoder.safetensors")
    after = load_file(tmp_path / "second" / "encoder.safetensors")
    for name, value in before.items():
        if name.endswith(("weight", "bias")):
            assert torch.allclose(after[name], value, atol=1e-5), name
    record = json.loads((tmp_path / "second" / "run.json").read_text())["job"]["weights"]
    assert record["file"] == "first/encoder.safetensors"
    assert len(record["sha256"]) == 64
    assert run.method == method(small, size=32)


@pytest.mark.parametrize("method", ["byol-small", "moco-small"])
def test_the_weights_of_a_run_bring_their_encoder(method, train, tmp_path):
    """A method by its name takes the encoder of the run, inside its own twin and head."""
    encoder = NarrowResNet(widths=(8, 24), blocks=(1, 1))
    train(simclr(encoder), out="first")
    for place in (tmp_path / "first", tmp_path / "first" / "encoder.safetensors"):
        run = train(method, out=f"second-{place.name}", steps=1, weights=place, encoder=None)
        assert innermost(run.method.encoder) == encoder
    timm = train(simclr(Timm("test_resnet")), out="timm", steps=1)
    assert open_encoder(weights=timm.folder).method.encoder == Timm("test_resnet")


def test_the_weights_of_two_networks_name_no_encoder(train, tmp_path):
    train(cmc_small(NarrowResNet(widths=(8, 16), blocks=(1, 1))), out="two", steps=1)
    assert encoder_beside(tmp_path / "two") is None


def test_weights_of_timm_and_what_does_not_fit(small, train, data, tmp_path):
    file = data / "weights" / "tf_efficientnet_lite0.safetensors"
    run = train(simclr(Timm("tf_efficientnet_lite0"), size=64), steps=1, batch=8, weights=file)
    assert run.embed(torch.zeros(1, 3, 32, 32, dtype=torch.uint8)).shape == (1, 1280)
    with pytest.raises(ValueError, match=r"does not fit the encoder.*\n  .* is missing"):
        train(simclr(NarrowResNet()), out="other", weights=file)
    with pytest.raises(FileNotFoundError, match=r"needs a \.safetensors file, the folder of a run"):
        train(simclr(small), out="none", weights=tmp_path / "nowhere")
