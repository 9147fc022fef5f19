"""A bare encoder is a run of zero steps."""

import json

import pytest
import torch
from safetensors.torch import load_file

from counterpoint.cli import main
from counterpoint.data import image_files
from counterpoint.encoder_choice import open_encoder
from counterpoint.framework.pixels import Pixels
from counterpoint.parts.views import Normalise
from counterpoint.run import Run

LITE = "timm/tf_efficientnet_lite0"


@pytest.fixture(scope="module")
def file(data):
    return data / "weights" / "tf_efficientnet_lite0.safetensors"


@pytest.fixture(scope="module")
def few(data, tmp_path_factory):
    """Thirty photos of each of three classes."""
    folder = tmp_path_factory.mktemp("few")
    for place in sorted((data / "caltech20").iterdir())[:3]:
        (folder / place.name).mkdir()
        for photo in sorted(place.glob("*.jpg"))[:30]:
            (folder / place.name / photo.name).symlink_to(photo)
    return folder


def test_an_encoder_is_measured_without_a_run(file, few, capsys):
    given = ["--encoder", LITE, "--weights", str(file), "--data", str(few), "--size", "64"]
    main(["evaluate", *given, "--protocol", "knn", "--workers", "0"])
    said = capsys.readouterr().out
    assert "timm/tf_efficientnet_lite0 with the weights" in said
    assert "weighted kNN" in said


def test_an_encoder_is_kept_as_a_run_of_zero_steps(file, few, tmp_path, capsys):
    out = tmp_path / "lite0"
    run = open_encoder(encoder=LITE, weights=file, size=64, out=out)
    record = json.loads((out / "run.json").read_text())
    assert record["steps"] == 0
    assert record["bare"]["encoder"] == LITE
    assert len(record["bare"]["weights"]["sha256"]) == 64
    given, kept = load_file(file), load_file(out / "encoder.safetensors")
    assert given.keys() == kept.keys()
    assert all(torch.equal(given[key], kept[key]) for key in given)
    source = image_files(few).first(4)
    again = Run.open(out)
    assert torch.equal(run.embed(source, workers=0), again.embed(source, workers=0))
    main(["report", str(out), "--out", str(tmp_path / "page.html")])
    assert "1 run" in capsys.readouterr().out
    page = (tmp_path / "page.html").read_text().replace("\u2011", "-")
    assert f"<h1>{LITE}</h1>" in page
    assert f"counterpoint evaluate --encoder {LITE} --weights" in page
    assert "counterpoint pretrain" not in page


def test_random_weights_are_the_same_every_time():
    one, other = (open_encoder(encoder="small", size=32) for _ in range(2))
    assert one.folder is None
    for key, value in one.model.state_dict().items():
        assert torch.equal(value, other.model.state_dict()[key])


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match="neither a run nor an encoder"):
        open_encoder()
    with pytest.raises(ValueError, match="got a run and --weights, --size"):
        open_encoder(tmp_path, weights=tmp_path, size=32)
    (tmp_path / "run.json").write_text('{"steps": 3}')
    with pytest.raises(ValueError, match="is a run that was trained"):
        open_encoder(encoder="small", out=tmp_path)
    (tmp_path / "run.json").unlink()
    (tmp_path / "model.safetensors").write_bytes(b"precious")
    with pytest.raises(ValueError, match="is not empty and is no run"):
        open_encoder(encoder="small", out=tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / ".hidden")
    open_encoder(encoder="small", out=tmp_path)
    assert json.loads((tmp_path / "run.json").read_text())["steps"] == 0


def test_another_normalisation_leaves_the_side_and_the_crop_of_the_weights(file):
    usual = open_encoder(encoder=LITE, weights=file)
    given = open_encoder(encoder=LITE, weights=file, pixels=Pixels((0.5,) * 3, (0.25,) * 3))
    one, other = (run.model.views.evaluation for run in (usual, given))
    assert one.shape == other.shape
    assert one.stages[:2] == other.stages[:2]
    assert other.stages[-1] == Normalise((0.5,) * 3, (0.25,) * 3)


@pytest.mark.parametrize("command", [["evaluate", "--data", "."], ["report"]])
def test_a_command_needs_a_run_or_an_encoder(command):
    with pytest.raises(SystemExit, match="needs the folder of a run, or --encoder and --weights"):
        main(command)
