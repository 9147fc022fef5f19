"""What the doctor measures before it suggests a command, and what it makes of it."""

import json
import shlex
import subprocess
from dataclasses import replace
from functools import partial

import pytest
import timm
import torch
from safetensors.torch import save_file

from counterpoint import NarrowResNet, Run, pretrain, simclr_small, training_of
from counterpoint.cli import main
from counterpoint.data import ArraySource, open_data
from counterpoint.doctor.alternatives import Alternative, agrees, decide, faster
from counterpoint.doctor.beginning import FEW, beginning
from counterpoint.doctor.comparison import compare_ways
from counterpoint.doctor.compile_trial import try_compiling
from counterpoint.doctor.measurement import race, racer, some_batches
from counterpoint.doctor.suggestion import first_job
from counterpoint.framework.settings import Training
from counterpoint.methods import method_named

BASE = Alternative(32, seconds=(1.0, 1.02, 1.04, 1.1), losses=(4.0, 3.9), memory=1 << 30)
HALF = replace(BASE, precision="bf16-mixed", seconds=(0.4, 0.41, 0.42, 0.9))
LATE = replace(BASE, compiled=True, seconds=(0.5, 0.5, 0.51, 0.52), warmup=60.0)


def taken(base, *others, images=1_000_000):
    (way,) = [verdict.way for verdict in decide(base, others, images=images) if verdict.taken]
    return way


def why(base, other, images=1_000_000):
    return decide(base, [other], images=images)[1].why


def test_what_is_faster_and_computes_the_same_is_taken():
    assert taken(BASE, HALF) is HALF
    assert taken(BASE, HALF, LATE) is HALF
    assert taken(BASE, replace(HALF, seconds=(0.6,) * 4), LATE) is LATE


def test_a_gain_within_the_noise_is_none():
    noisy = replace(HALF, seconds=(0.4, 0.9, 1.06, 1.3))
    assert noisy.speed > BASE.speed
    assert not faster(noisy, BASE)
    assert taken(BASE, noisy) is BASE
    assert why(BASE, noisy) == "no faster than the noise"


def test_what_is_slower_or_hardly_faster_is_not_taken():
    assert "0.50 of the speed" in why(
        replace(BASE, seconds=(1.0,) * 4), replace(HALF, seconds=(2.0,) * 4)
    )
    assert "only 1.04" in why(replace(BASE, seconds=(1.04,) * 4), replace(HALF, seconds=(1.0,) * 4))


def test_other_losses_are_never_taken_however_fast():
    wrong = replace(HALF, losses=(4.0, 3.7))
    assert not agrees(wrong, BASE)
    assert taken(BASE, wrong) is BASE
    assert why(BASE, wrong) == "its losses are others"
    assert not agrees(replace(HALF, losses=(float("nan"), 3.9)), BASE)


def test_compiling_pays_only_in_a_run_that_is_long_enough():
    """60 s of warm-up and half the time a step: it pays from 4,000 images on, about."""
    assert taken(BASE, LATE, images=2_000) is BASE
    assert why(BASE, LATE, images=2_000) == "60 s of warm-up do not pay in this run"
    assert taken(BASE, LATE, images=8_000) is LATE


def test_a_smaller_batch_must_be_much_faster():
    base = replace(BASE, seconds=(1.0,) * 4)
    less = Alternative(16, seconds=(0.45,) * 4, losses=(3.0,))
    assert taken(base, less) is base
    assert "fewer negatives" in why(base, less)
    much = replace(less, seconds=(0.3,) * 4)
    assert taken(base, much) is much


@pytest.fixture(scope="module")
def noise():
    pixels = torch.randint(256, (32, 3, 16, 16), dtype=torch.uint8)
    return ArraySource("noise", pixels)


def test_steps_are_measured_in_turn_from_the_same_weights(noise):
    method, training = method_named("simclr-small", size=16), Training(batch=8, optimiser="sgd")

    def build():
        torch.manual_seed(0)
        return method.build(image=(3, 16, 16))

    batches = some_batches(build(), noise, batch=8, count=3, workers=0)
    ways = [
        racer(build, training, batches, noise, precision=precision)
        for precision in ("32-true", "32-true", "bf16-mixed")
    ]
    first, again, half = race(ways, seconds=0.0)
    assert first.losses == again.losses
    assert half.losses != first.losses
    assert agrees(half, first)
    assert len(first.seconds) == len(half.seconds) == 3
    assert first.speed > 0
    assert first.memory > 0
    assert first.warmup == 0


def test_compiling_is_measured_and_stopped_in_time(noise, monkeypatch):
    """Really compiled; in a second it is not done, and the process is gone."""
    method, training = method_named("simclr-small", size=16), Training(batch=8)
    asked = {"batch": 8, "precision": "32-true", "seconds": 1.0}
    assert try_compiling(method, (3, 16, 16), training, **asked) is None


def test_it_is_said_where_compiling_does_not_work(noise, monkeypatch):
    """A trial that fails at once would not get further in more seconds."""
    said = """Traceback (most recent call last):
torch._inductor.exc.InductorError: InvalidCxxCompiler: No working C++ compiler found

Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace
"""

    def run(words, *, stderr=said, **_):
        raise subprocess.CalledProcessError(1, words, stderr=stderr)

    monkeypatch.setattr(subprocess, "run", run)
    job = first_job(beginning(noise, encoder=None, weights="scratch"), noise, batch=8)
    asked = {"small": 8, "seconds": 0.1, "planned": lambda _: 10**9, "tell": lambda _: None}
    assert compare_ways(job, **asked).note == (
        "compiling does not work here: InductorError: InvalidCxxCompiler: No working C++ compiler "
        "found"
    )
    monkeypatch.setattr(subprocess, "run", partial(run, stderr=""))
    assert compare_ways(job, **asked).note.endswith("here: its process ended with 1")


def test_few_photos_start_from_weights_and_many_do_not(data):
    photos = open_data(data / "caltech20").train
    few = beginning(photos, encoder=None, weights=None)
    assert (few.encoder, few.weights) == ("timm/resnet18", "pretrained")
    assert few.file is None
    scratch = beginning(photos, encoder=None, weights="scratch")
    assert (scratch.encoder, scratch.weights, scratch.lr) == (None, None, None)
    lite = beginning(photos, encoder=None, weights="w/tf_efficientnet_lite0.safetensors")
    assert lite.encoder == "timm/tf_efficientnet_lite0"
    with pytest.raises(ValueError, match="--encoder timm/NAME"):
        beginning(photos, encoder=None, weights="w/mine.safetensors")
    small = ArraySource("small", torch.zeros(100, 3, 32, 32, dtype=torch.uint8))
    assert beginning(small, encoder=None, weights=None).weights is None
    assert FEW == 10_000


def test_the_suggested_command_runs_as_printed(data, tmp_path, monkeypatch, capsys):
    """From real photos, with a small encoder's weights; two steps of it."""
    photos = tmp_path / "photos"
    for kind in ("lotus", "laptop"):
        (photos / kind).mkdir(parents=True)
        for file in sorted((data / "caltech20" / kind).glob("*.jpg"))[:20]:
            (photos / kind / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    weights = tmp_path / "test_resnet.safetensors"
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), weights)
    main(["doctor", "photos", "--weights", str(weights), "--seconds", "1", "--json", "found.json"])
    said = capsys.readouterr()
    assert "about 1 s" in said.err
    assert "fp32" in said.out
    assert "bf16" in said.out
    found = json.loads((tmp_path / "found.json").read_text())["suggestion"]
    assert f"  {found['command']}\n" in said.out
    assert len(found["comparison"]["verdicts"]) >= 2
    words = shlex.split(found["command"])
    assert words[words.index("--weights") + 1] == str(weights)
    main([*words[1:], "--steps", "2"])
    assert (tmp_path / words[-1] / "run.json").is_file()


def test_the_weights_of_a_run_are_suggested_with_its_encoder(noise, data, tmp_path, capsys):
    encoder = NarrowResNet(widths=(8, 24), blocks=(1, 1))
    few = training_of("simclr-small", batch=8)
    pretrain(simclr_small(encoder), noise, out=tmp_path / "run", steps=1, training=few)
    photos = str(data / "caltech20")
    main(["doctor", photos, "--weights", str(tmp_path / "run"), "--seconds", "0", "--limit", "64"])
    said = capsys.readouterr().out
    line = next(line for line in said.splitlines() if "counterpoint pretrain" in line)
    words = shlex.split(line)[1:]
    assert "--encoder" not in words
    out = tmp_path / "second"
    main([*words[: words.index("--out")], "--out", str(out), "--steps", "1", "--batch-size", "16"])
    assert Run.open(out).method.encoder == encoder


@pytest.mark.full
def test_compiling_is_measured_for_real():
    """In this process and in another: losses agree, and the warm-up is seconds."""
    method, training = method_named("simclr-small", size=16), Training(batch=8)
    pair = try_compiling(method, (3, 16, 16), training, batch=8, precision="32-true", seconds=400.0)
    assert pair is not None
    plain, other = pair
    assert other.compiled
    assert not plain.compiled
    assert other.warmup > 1 > plain.warmup
    assert agrees(other, plain)
