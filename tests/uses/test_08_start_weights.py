"""Use 8: start pretraining from weights."""

import json

import pytest
import torch
from safetensors.torch import load_file

from counterpoint import NarrowResNet, Timm, byol, simclr


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


def test_weights_of_timm_and_what_does_not_fit(small, train, data, tmp_path):
    file = data / "weights" / "tf_efficientnet_lite0.safetensors"
    run = train(simclr(Timm("tf_efficientnet_lite0"), size=64), steps=1, batch=8, weights=file)
    assert run.embed(torch.zeros(1, 3, 32, 32, dtype=torch.uint8)).shape == (1, 1280)
    with pytest.raises(ValueError, match=r"does not fit the encoder.*\n  .* is missing"):
        train(simclr(NarrowResNet()), out="other", weights=file)
    with pytest.raises(FileNotFoundError, match=r"needs a \.safetensors file, the folder of a run"):
        train(simclr(small), out="none", weights=tmp_path / "nowhere")
