"""Weights of every kind, with the pixels that belong to them; what does not fit is refused."""

import json

import pytest
import timm
import torch
from safetensors.torch import load_file, save_file

from counterpoint import (
    ArraySource,
    CentreCrop,
    Resize,
    Timm,
    byol_small,
    cmc,
    simclr,
    simclr_small,
)
from counterpoint.encoder_choice import open_encoder
from counterpoint.failures import RunFailure
from counterpoint.framework.optional import backbone_of, trained
from counterpoint.framework.pixels import Pixels
from counterpoint.job_record import JobRecord
from counterpoint.parts.views.colour import IMAGENET, Normalise
from counterpoint.pretraining import built_model
from counterpoint.resolve import resolve
from counterpoint.training.initial_weights import InitialWeights

NAME = "tf_efficientnet_lite0"
HALF = Normalise((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


@pytest.fixture(scope="module")
def file(data):
    return data / "weights" / f"{NAME}.safetensors"


@pytest.fixture(scope="module")
def images():
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(256, (16, 3, 32, 32), dtype=torch.uint8, generator=generator)
    return ArraySource("noise", pixels)


@pytest.fixture
def folder(tmp_path):
    """A small model as timm writes it, with its classifier and pixels of its own."""
    network = timm.create_model("test_resnet", num_classes=5)
    save_file(network.state_dict(), tmp_path / "model.safetensors")
    config = {
        "architecture": "test_resnet",
        "num_classes": 5,
        "pretrained_cfg": {
            "mean": [0.1, 0.2, 0.3],
            "std": [0.4, 0.5, 0.6],
            "input_size": [3, 64, 64],
            "interpolation": "bicubic",
            "crop_pct": 0.8,
            "num_classes": 5,
            "pool_size": None,
            "first_conv": "conv1.0",
            "classifier": "fc",
        },
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    return tmp_path


def starting(job):
    return backbone_of(trained(built_model(job).encoder)).state_dict()


@pytest.mark.parametrize("method", [simclr_small, byol_small])
def test_a_file_is_loaded_and_its_pixels_are_timms(method, file, images):
    job = resolve(method(Timm(NAME), size=32), images, weights=file, changes={"batch": 8})
    found, given = starting(job), load_file(file)
    assert found.keys() == given.keys()
    assert all(torch.equal(found[key], given[key]) for key in given)
    views = job.method.views.build(job.image)
    for built in getattr(views, "pipelines", (views,)):
        assert HALF in built.stages
        assert HALF in built.evaluation.stages
        assert not {IMAGENET} & set(built.stages)
    assert "normalise 0.5/0.5" in str(job.method)
    record = job.record.weights
    assert record["pixels"] == {"mean": [0.5] * 3, "std": [0.5] * 3, "origin": f"timm's {NAME}"}


def test_pixels_given_by_hand_win_and_are_in_the_command(file, images):
    pixels = Pixels((127 / 255,) * 3, (128 / 255,) * 3)
    asked = {"encoder": f"timm/{NAME}", "changes": {"batch": 8}, "weights": file}
    job = resolve("simclr", images, pixels=pixels, **asked)
    (stage,) = (s for s in job.method.views.stages if isinstance(s, Normalise))
    assert stage == Normalise(pixels.mean, pixels.std)
    words = JobRecord.from_dict(json.loads(json.dumps(job.record.to_dict()))).command(
        data="DATA", out="OUT"
    )
    assert words[words.index("--mean") + 1] == ",".join([repr(127 / 255)] * 3)
    plain = resolve("simclr", images, **asked).command(data="DATA", out="OUT")
    assert "--mean" not in plain


def test_the_recipe_is_known_whatever_the_pixels_are(file, images):
    job = resolve("simclr", images, encoder=f"timm/{NAME}", weights=file, changes={"batch": 8})
    assert job.record.recipe == "simclr"
    value = resolve(simclr(Timm(NAME)), images, weights=file, changes={"batch": 8})
    assert value.training == job.training


def test_a_timm_folder_names_its_encoder_and_leaves_out_its_classifier(folder, images):
    job = resolve("simclr", images, weights=folder, changes={"batch": 8})
    assert job.method.encoder == Timm("test_resnet")
    assert set(job.weights.left_out) == {"fc.weight", "fc.bias"}
    assert "2 keys of its classifier left out" in str(job.weights)
    given = load_file(folder / "model.safetensors")
    assert all(torch.equal(value, given[key]) for key, value in starting(job).items())
    assert Normalise((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)) in job.method.views.stages
    with pytest.raises(ValueError, match=r"is of test_resnet, and the encoder is resnet18; take"):
        resolve("simclr", images, encoder="timm/resnet18", weights=folder, changes={"batch": 8})


def test_a_bare_encoder_sees_what_its_folder_says(folder):
    run = open_encoder(weights=folder)
    assert run.image == (3, 64, 64)
    assert run.method.views.evaluation == (Resize(80, "bicubic"), CentreCrop(64))
    theirs = timm.create_model(f"local-dir:{folder}", pretrained=True, num_classes=0).eval()
    image = torch.randint(256, (2, 3, 80, 80), dtype=torch.uint8)
    mean, std = (torch.tensor(v)[:, None, None] for v in ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)))
    with torch.no_grad():
        wanted = theirs((image[..., 8:72, 8:72] / 255 - mean) / std)
    assert torch.allclose(run.embed(image), wanted, atol=1e-5)


def test_a_run_gives_its_weights_and_its_pixels(folder, images, tmp_path):
    place = tmp_path / "kept"
    first = open_encoder(weights=folder, out=place)
    found = InitialWeights.find(place, first.method.encoder)
    assert found.pixels.mean == (0.1, 0.2, 0.3)
    copied = tmp_path / "copied.safetensors"
    copied.write_bytes((place / "encoder.safetensors").read_bytes())
    again = InitialWeights.find(copied, first.method.encoder)
    assert again.pixels.std == (0.4, 0.5, 0.6)
    assert again.pixels.origin == "copied.safetensors"
    longer = resolve(place, images, changes={"batch": 8}, steps=1)
    assert longer.method.views == first.method.views  # a run has its normalisation already


def test_lab_keeps_its_own_normalisation(folder):
    weights = InitialWeights.find(folder, Timm("test_resnet"))
    method = cmc(size=32)
    assert weights.seen_by(method) == method


def test_what_does_not_fit_is_listed_and_refused(folder, file, images, tmp_path):
    tensors = load_file(folder / "model.safetensors")
    tensors["odd.weight"] = tensors.pop("conv1.0.weight")
    save_file(tensors, tmp_path / "odd.safetensors")
    job = resolve(
        simclr(Timm("test_resnet")),
        images,
        weights=tmp_path / "odd.safetensors",
        changes={"batch": 8},
    )
    with pytest.raises(ValueError, match=r"2 of \d+ keys:\n  conv1.0.weight is missing\n  odd"):
        built_model(job)
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"no tensors")
    with pytest.raises(ValueError, match="is not a safetensors file"):
        InitialWeights.find(broken, Timm("test_resnet"))
    (folder / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"has config\.json and no model\.safetensors"):
        InitialWeights.find(folder, Timm("test_resnet"))


def test_positions_of_another_size_name_the_size(images, tmp_path):
    network = timm.create_model("test_vit", num_classes=0)
    save_file(network.state_dict(), tmp_path / "vit.safetensors")
    method, weights = simclr(Timm("test_vit"), size=32), tmp_path / "vit.safetensors"
    job = resolve(method, images, weights=weights, changes={"batch": 8})
    with pytest.raises(ValueError, match="those of one size: take --size 160"):
        built_model(job)


def test_pretrained_without_a_network_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "decoded"))
    with pytest.raises(ValueError, match="take --encoder timm/NAME"):
        open_encoder(encoder="small", weights="pretrained")
    with pytest.raises(RunFailure, match="resnet10t could not be downloaded") as failure:
        open_encoder(encoder="timm/resnet10t", weights="pretrained")
    assert "\n" not in str(failure.value)
