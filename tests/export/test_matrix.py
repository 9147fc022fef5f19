"""Every kind of encoder by every route that it claims, each in a fresh process."""

import json

import pytest

from counterpoint.encoder_choice import open_encoder
from counterpoint.export.export_folder import write_export
from counterpoint.export.proof import BOUND
from counterpoint.export.subject import subject_of
from counterpoint.parts.encoders import ResNet
from export.subjects import run_with

ANYWHERE = {"counterpoint", "onnx", "pt2"}
CASES = {
    "resnet18": ({"encoder": ResNet("resnet18", stem="imagenet")}, {"timm", "torchvision"}),
    "resnet18, small stem": ({"encoder": "resnet18", "size": 32}, {"torchvision"}),
    "convnext": ({"encoder": "timm/convnext_atto"}, {"timm"}),
    "vit": ({"encoder": "timm/vit_tiny_patch16_224"}, {"timm"}),
    "amdim": ({"method": "amdim-small", "size": 32}, set()),
}


@pytest.mark.parametrize("name", CASES)
def test_every_route_gives_the_vectors_of_the_run(name, tmp_path):
    settings, more = CASES[name]
    made = write_export(subject_of(run_with(**settings)), tmp_path / "made")
    assert {one.route for one in made.differences} == ANYWHERE | more
    assert max(one.relative for one in made.differences) < BOUND / 10


def test_real_weights_by_every_route(data, tmp_path):
    weights = data / "weights" / "tf_efficientnet_lite0.safetensors"
    run = open_encoder(encoder="timm/tf_efficientnet_lite0", weights=weights, size=96)
    made = write_export(subject_of(run), tmp_path / "made")
    assert {one.route for one in made.differences} == ANYWHERE | {"timm"}
    assert max(one.relative for one in made.differences) < BOUND / 10
    config = json.loads((tmp_path / "made" / "config.json").read_text())["pretrained_cfg"]
    normalise = run.method.views.stages[-1]
    assert (config["mean"], config["std"]) == ([*normalise.mean], [*normalise.std])


@pytest.mark.full
@pytest.mark.parametrize(
    ("settings", "routes"),
    [
        ({"method": "cpc-small", "size": 32}, ANYWHERE),  # patches, which are part of the graphs
        ({"method": "cmc-small", "size": 32}, {"counterpoint"}),  # two encoders, in Lab
        ({"method": "moco-small", "encoder": "resnet18", "size": 32}, {*ANYWHERE, "torchvision"}),
        ({"encoder": "timm/mobilenetv3_small_050"}, {*ANYWHERE, "timm"}),  # a layer behind pooling
        ({"encoder": "timm/swin_tiny_patch4_window7_224"}, {*ANYWHERE, "timm"}),  # channels last
    ],
)
def test_more_kinds_of_encoders(settings, routes, tmp_path):
    made = write_export(subject_of(run_with(**settings)), tmp_path / "made")
    assert {one.route for one in made.differences} == routes
