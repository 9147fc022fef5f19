"""The command on two devices with sharded weights: what one process trains, and it resumes."""

import os
import shutil
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import forked
from counterpoint.run import Run

COMMAND = Path(sys.executable).parent / "counterpoint"
STEPS = 4
BOUND = 1e-5  # views are made in fp32, and round otherwise in batches of another size


def trained(out, data, *more):
    """Run the command on a few images; return its weights and what it said."""
    words = [
        *("pretrain", data / "cifar10", "--method", "byol-small", "--out", out),
        *("--limit", "64", "--steps", str(STEPS), "--batch-size", "16", "--workers", "0"),
        *("--optimiser", "sgd", "--lr", "0.3", "--save-seconds", "0"),
        *("--precision", "64-true", *more),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = forked.run(
        [COMMAND, *words], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return load_file(out / "model.safetensors"), done.stderr


def assert_close(found, wanted, *, exact):
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        atol = rtol = 0.0 if exact else BOUND
        torch.testing.assert_close(found[name], tensor, atol=atol, rtol=rtol, msg=name)


@pytest.fixture(scope="module")
def sharded(tmp_path_factory, data):
    out = tmp_path_factory.mktemp("sharded") / "run"
    weights, said = trained(out, data, "--devices", "2", "--strategy", "fsdp2")
    return out, weights, said


def test_the_start_says_what_a_rank_holds(sharded):
    _, _, said = sharded
    assert "a rank holds 1/2 of weights" in said
    assert "health  epoch 1" in said  # rank 0 looks at a model that was brought together


def test_it_trains_what_one_process_trains(sharded, data, tmp_path):
    out, weights, _ = sharded
    alone, _ = trained(tmp_path / "alone", data, "--devices", "1")
    assert_close(weights, alone, exact=False)
    assert Run.open(out).model.encoder is not None
    assert load_file(out / "encoder.safetensors").keys()


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(("--devices", "2", "--strategy", "fsdp2"), id="sharded"),
        pytest.param(("--devices", "1"), id="alone", marks=pytest.mark.full),
    ],
)
def test_it_resumes_sharded_or_not(sharded, data, tmp_path, how):
    out, weights, _ = sharded
    again = shutil.copytree(out, tmp_path / "run")
    for gone in ("run.json", "model.safetensors", "encoder.safetensors"):
        (again / gone).unlink()
    shutil.rmtree(again / "checkpoints" / f"step-{STEPS:08}")
    found, said = trained(again, data, "--resume", "auto", *how)
    assert f"continuing from step-{STEPS - 1:08}" in said
    assert_close(found, weights, exact="fsdp2" in how)
