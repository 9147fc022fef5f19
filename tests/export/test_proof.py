"""The proof finds what is wrong with an export, and a failed export leaves nothing."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from counterpoint.export.export_folder import write_export
from counterpoint.export.onnx_file import OnnxFile
from counterpoint.export.proof import BATCHES, ProofFailure, prove, route_groups
from counterpoint.export.proof_images import (
    COUNT,
    as_pictures,
    canvas,
    generated_images,
    odd_pictures,
)
from counterpoint.export.route import WEIGHTS, Loading
from counterpoint.export.routes import ROUTES
from counterpoint.export.subject import subject_of
from counterpoint.export.timm_folder import TimmFolder
from counterpoint.export.torch_files import TorchProgram
from export.subjects import run_with


@dataclass(frozen=True)
class Planted:
    """A route that spoils what another one wrote."""

    of: object
    spoil: object

    def __getattr__(self, name):
        return getattr(self.of, name)

    def write(self, subject, folder):
        found = self.of.write(subject, folder)
        return self.spoil(subject, folder, found) or found


def wrong_mean(subject, folder, found):
    config = json.loads((folder / "config.json").read_text())
    config["pretrained_cfg"]["mean"] = [0.5, 0.5, 0.5]
    (folder / "config.json").write_text(json.dumps(config))


def wrong_key(subject, folder, found):
    state = load_file(folder / WEIGHTS)
    state["backbone.bn1.weight"] = state.pop("bn1.weight")
    save_file(state, folder / WEIGHTS)


def burnt_in(subject, folder, found):
    example = torch.zeros(2, 3, 32, 32)
    program = torch.export.export(subject.network, (example,))
    torch.export.save(program, folder / "model.pt2")


def ours(subject, folder, found):
    return Loading("import counterpoint\n" + found.lines)


@pytest.fixture(scope="module")
def subject():
    return subject_of(run_with("timm/resnet10t", size=32))


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        (Planted(TimmFolder(), wrong_mean), "timm gives other vectors than the run"),
        (Planted(TimmFolder(), wrong_key), r"the lines that load timm fail.*bn1\.weight"),
        (Planted(TorchProgram(), burnt_in), "the lines that load pt2 fail"),
        (Planted(TorchProgram(), ours), "counterpoint was imported, which this route does not"),
    ],
)
def test_a_planted_fault_is_found_and_nothing_is_kept(subject, spoiled, said, tmp_path):
    with pytest.raises(ProofFailure, match=said):
        write_export(subject, tmp_path / "made", routes=(spoiled,))
    assert list(tmp_path.iterdir()) == []


def test_a_batch_that_is_burnt_into_onnx_is_found(subject, tmp_path):
    import onnx

    found = OnnxFile().write(subject, tmp_path)
    model = onnx.load(tmp_path / "model.onnx")
    (given,) = model.graph.input
    assert given.type.tensor_type.shape.dim[0].dim_param
    given.type.tensor_type.shape.dim[0].ClearField("dim_param")
    given.type.tensor_type.shape.dim[0].dim_value = 2
    onnx.save(model, tmp_path / "model.onnx")
    images = generated_images(3, canvas(subject.representation))
    pictures = as_pictures(images)
    wanted = subject.representation(pictures, workers=0)
    with pytest.raises(ProofFailure, match="the lines that load onnx fail"):
        prove(tmp_path, (OnnxFile(),), {"onnx": found}, pictures, wanted)


def test_routes_share_a_process_where_each_may_import_what_those_before_it_may():
    names = [[route.name for route in group] for group in route_groups(ROUTES)]
    assert names == [["onnx", "pt2", "torchvision", "timm"], ["counterpoint"]]


def test_the_batches_differ_and_are_all_images():
    (picture,) = as_pictures(generated_images(3, (8, 8))[:1])
    assert sum(BATCHES) == COUNT + len(odd_pictures(picture))
    assert len({*BATCHES}) == len(BATCHES)
    assert 1 in BATCHES


def test_generated_images_are_the_same_everywhere():
    images = generated_images(3, (20, 24))
    assert images.shape == (COUNT, 3, 20, 24)
    assert torch.equal(images, generated_images(3, (20, 24)))
    assert len({image.numpy().tobytes() for image in images}) == COUNT


def test_a_folder_that_is_there_is_not_touched(subject, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="is there already"):
        write_export(subject, Path(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_what_a_killed_export_left_is_named(subject, tmp_path):
    """It begins with a dot, so the folder looks empty."""
    left = f".{tmp_path.name}.4194305"
    (tmp_path / left).mkdir()
    with pytest.raises(ValueError, match=rf"has {re.escape(left)}\. .*killed export: delete it"):
        write_export(subject, tmp_path)


@pytest.mark.parametrize("named", [".", "link", "dangling"])
def test_the_current_folder_and_links_hold_what_is_written(subject, named, tmp_path, monkeypatch):
    place = tmp_path / "place"
    if named != "dangling":
        place.mkdir()
    if named == ".":
        monkeypatch.chdir(place)
    else:
        (tmp_path / named).symlink_to(place)
        monkeypatch.chdir(tmp_path)
    made = write_export(subject, Path(named), only=["counterpoint"])
    assert "README.md" in {file.name for file in place.iterdir()}
    assert {file.name for file in made.folder.iterdir()} == {file.name for file in place.iterdir()}
    assert not list(tmp_path.rglob(".*"))
    assert Path(named).is_symlink() == (named != ".")


def test_an_export_that_fails_leaves_an_empty_folder_empty(subject, tmp_path):
    with pytest.raises(ProofFailure):
        write_export(subject, tmp_path, routes=(Planted(TimmFolder(), wrong_mean),))
    assert list(tmp_path.iterdir()) == []
