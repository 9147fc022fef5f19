"""Use 6: the encoder of a run in torchvision or timm."""

import pytest
import timm
import torch
import torchvision
from safetensors.torch import load_file
from torch import nn

from counterpoint import ResNet, Timm, byol, simclr


def theirs(name):
    if name == "timm":
        return timm.create_model("resnet10t", num_classes=0)
    network = torchvision.models.resnet18()
    network.fc = nn.Identity()
    return network


@pytest.mark.parametrize("method", [simclr, byol])
@pytest.mark.parametrize("library", ["torchvision", "timm"])
def test_weights_load_strictly_and_give_the_same_vectors(method, library, train, cifar, tmp_path):
    encoder = {"torchvision": ResNet("resnet18", stem="imagenet"), "timm": Timm("resnet10t")}
    run = train(method(encoder[library], size=64), steps=1, batch=8)
    network = theirs(library).eval()
    weights = load_file(tmp_path / "run" / "encoder.safetensors")
    missing = network.load_state_dict(weights, strict=library == "timm")
    assert not missing.missing_keys
    images = cifar.test.images[:4]
    (view,) = run.transform(images)
    assert torch.allclose(network(view), run.embed(images), atol=1e-5)
