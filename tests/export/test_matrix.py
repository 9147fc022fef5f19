"""Every kind of encoder by every route that it claims, each in a fresh process."""

import pytest

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
