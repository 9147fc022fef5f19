"""Going on: the newest checkpoint is chosen once, by its small files, and hashed once."""

import os
import shutil
from hashlib import sha256

import pytest
import torch

from counterpoint import Training, open_data, pretrain
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.run_files import CHECKPOINTS
from counterpoint.training.checkpoints import Checkpoints, hashed
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.io import SafeCheckpointIO
from counterpoint.training.clipping import clipping_identity
from counterpoint.training.resume import start_from

IDENTITY = {"method": "a", "data": "b", "steps": 3}
LARGE = 1 << 20


def state(step, **more):
    kept = {"identity": IDENTITY, "torch": str(torch.__version__), **more}
    return {"weights": torch.full((LARGE,), float(step)), "counterpoint": kept}


@pytest.fixture
def folder(tmp_path):
    place = Checkpoints(tmp_path / CHECKPOINTS)
    for step in (1, 2):
        place.save(step, state(step))
    return tmp_path


@pytest.fixture
def hashes(monkeypatch):
    """Count the bytes that are hashed while a checkpoint is read."""
    count = [0]

    class Counting:
        def __init__(self):
            self.true = sha256()

        def update(self, data):
            count[0] += len(data)
            self.true.update(data)

        def hexdigest(self):
            return self.true.hexdigest()

    monkeypatch.setattr(hashed.hashlib, "sha256", Counting)
    return count


def test_a_checkpoint_is_hashed_once_and_its_identity_costs_nothing(folder, hashes, capsys):
    start = start_from(folder, "auto", IDENTITY)
    assert hashes[0] < 10_000
    found = SafeCheckpointIO().load_checkpoint(start)
    assert float(found["weights"][0]) == 2.0
    assert 4 * LARGE <= hashes[0] < 4 * LARGE + 20_000
    assert "continuing from step-00000002" in capsys.readouterr().err


def test_one_whose_weights_are_damaged_is_passed_over_when_they_are_read(folder, capsys):
    weights = folder / CHECKPOINTS / "step-00000002" / "state.safetensors"
    data = bytearray(weights.read_bytes())
    data[-5] ^= 1
    weights.write_bytes(data)
    found = SafeCheckpointIO().load_checkpoint(start_from(folder, "auto", IDENTITY))
    assert float(found["weights"][0]) == 1.0
    said = capsys.readouterr().err
    assert "step-00000002 is damaged (state.safetensors: sha256 differs)" in said
    assert "continuing from step-00000001" in said


def test_when_none_is_whole_it_says_what_to_do(folder):
    for step in (1, 2):
        weights = folder / CHECKPOINTS / f"step-0000000{step}" / "state.safetensors"
        weights.write_bytes(weights.read_bytes()[:-4] + b"\1\2\3\4")
    start = start_from(folder, "auto", IDENTITY)
    with pytest.raises(CheckpointError, match=r"none in .* is intact; give another --out"):
        SafeCheckpointIO().load_checkpoint(start)


def test_another_torch_is_a_word_and_no_refusal(folder, capsys):
    Checkpoints(folder / CHECKPOINTS).save(3, state(3, torch="1.0.0"))
    assert start_from(folder, "auto", IDENTITY) is not None
    assert "step-00000003 was written with torch 1.0.0" in capsys.readouterr().err


def test_one_that_is_named_is_taken_or_refused(folder):
    path = folder / CHECKPOINTS / "step-00000001"
    assert start_from(folder, str(path), IDENTITY) == path
    with pytest.raises(ValueError, match="step-00000009', and there is no such folder"):
        start_from(folder, str(folder / CHECKPOINTS / "step-00000009"), IDENTITY)
    with pytest.raises(ValueError, match="steps was 3 and is 4"):
        start_from(folder, "auto", IDENTITY | {"steps": 4})


@pytest.mark.parametrize(
    ("was", "words"),
    [
        ("files2-8-aa-bb-none", r"it had 8 images and has 9\. Give the settings"),
        ("977965a17bfd2ece", r"by an earlier version.*\. End it with the version that began it"),
    ],
)
def test_other_data_is_refused_with_what_it_is(tmp_path, was, words):
    kept = {"identity": IDENTITY | {"data": was}}
    Checkpoints(tmp_path / CHECKPOINTS).save(1, {"counterpoint": kept})
    with pytest.raises(ValueError, match=words):
        start_from(tmp_path, "auto", IDENTITY | {"data": "files2-9-ab-bb-none"})


def test_a_copy_of_the_data_goes_on_and_another_picture_does_not(data, tmp_path, capsys):
    photos, copy = tmp_path / "photos", tmp_path / "copy"
    photos.mkdir()
    for file in sorted((data / "caltech20").glob("*/*.jpg"))[::90][:16]:
        shutil.copyfile(file, photos / f"{file.parent.name}-{file.name}")

    def train(folder):
        pretrain(
            simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)), size=32),
            open_data(folder).train,
            out=tmp_path / "run",
            training=Training(batch=8),
            size=32,
            steps=2,
            workers=0,
            health=False,
            resume="auto",
        )

    train(photos)
    shutil.copytree(photos, copy, copy_function=shutil.copyfile)  # with new times
    for file in copy.iterdir():
        os.utime(file, (1, 1))
    train(copy)
    assert "nothing to do" in " ".join(capsys.readouterr().err.split())
    one, other, *_ = sorted(copy.iterdir())
    shutil.copyfile(other, one)
    with pytest.raises(ValueError, match="the data is not the same"):
        train(copy)


def test_another_clipping_of_the_gradient_is_another_run(tmp_path, capsys):
    images = torch.randint(256, (16, 3, 16, 16), dtype=torch.uint8)
    method = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)), size=16)

    def train(**clipping):
        settings = {"training": Training(batch=8), "steps": 2, "workers": 0, "health": False}
        pretrain(method, images, out=tmp_path, resume="auto", **settings, **clipping)

    train(gradient_clip_val=1.0)
    with pytest.raises(ValueError, match=r"gradient_clip_val was 1\.0 and is 2\.0"):
        train(gradient_clip_val=2.0)
    with pytest.raises(ValueError, match=r"gradient_clip_val was 1\.0 and is None"):
        train()
    with pytest.raises(ValueError, match="gradient_clip_algorithm was norm and is value"):
        train(gradient_clip_val=1.0, gradient_clip_algorithm="value")
    train(gradient_clip_val=1, gradient_clip_algorithm="norm")
    assert "nothing to do" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("now", [{}, {"gradient_clip_val": 1.0}])
def test_a_checkpoint_from_before_clipping_was_kept_goes_on(folder, now):
    assert start_from(folder, "auto", IDENTITY | clipping_identity(now)) is not None


def test_clipping_that_begins_is_refused(tmp_path):
    kept = {"identity": IDENTITY | clipping_identity({"gradient_clip_val": 0})}
    Checkpoints(tmp_path / CHECKPOINTS).save(1, {"counterpoint": kept})
    with pytest.raises(ValueError, match=r"gradient_clip_val was None and is 1\.0"):
        start_from(tmp_path, "auto", IDENTITY | clipping_identity({"gradient_clip_val": 1.0}))
