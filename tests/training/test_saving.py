"""What a run writes at its end: every weight under its name, for whoever may read the folder."""

import json
import os
import stat
from dataclasses import dataclass
from typing import ClassVar

import pytest
import timm
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import nn

from counterpoint.data import ArraySource
from counterpoint.framework.settings import Training
from counterpoint.methods import simclr
from counterpoint.parts.encoders import Headed, Timm
from counterpoint.parts.encoders.feature_maps import FeatureMaps
from counterpoint.pretraining import pretrain
from counterpoint.run import Run


@dataclass(frozen=True, slots=True)
class TiedEncoder:
    """A convolution that is used twice, under two names."""

    part: ClassVar[str] = "encoder"

    def build(self, views):
        net = nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.Tanh(), nn.Conv2d(3, 3, 3))
        net[2].weight = net[0].weight
        return FeatureMaps(net, lambda net, view: (net(view),))


def trained(encoder, out, **options):
    images = torch.randint(256, (8, 3, 32, 32), dtype=torch.uint8)
    return pretrain(
        simclr(encoder),
        ArraySource("noise", images),
        out=out,
        training=Training(optimiser="sgd", batch=4, warmup=0),
        steps=2,
        health=False,
        accelerator="cpu",
        devices=1,
        **options,
    )


def test_tied_weights_are_saved_and_stay_tied(tmp_path):
    run = trained(TiedEncoder(), tmp_path / "run", save_seconds=0)
    again = Run.open(tmp_path / "run", parts={"TiedEncoder": TiedEncoder})
    assert again.encoder.backbone[0].weight is again.encoder.backbone[2].weight
    images = torch.randint(256, (3, 3, 32, 32), dtype=torch.uint8)
    assert torch.equal(again.embed(images), run.embed(images))
    exported = load_file(tmp_path / "run" / "encoder.safetensors")
    assert torch.equal(exported["0.weight"], exported["2.weight"])


@pytest.fixture
def shared():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_colleagues_can_read_a_run(tmp_path, shared):
    trained(TiedEncoder(), tmp_path / "run")
    for name in ("model.safetensors", "encoder.safetensors", "run.json", "method.json"):
        assert stat.S_IMODE((tmp_path / "run" / name).stat().st_mode) == 0o644, name


def test_a_run_says_what_its_weights_load_into(tmp_path):
    """A network with a table of positions fits only the size that it was trained at."""
    run = trained(Headed(of=Timm("test_vit")), tmp_path / "run")
    line = json.loads((tmp_path / "run" / "run.json").read_text())["encoder"]["loads into"]
    assert line == ("timm.create_model('test_vit', pretrained=False, num_classes=0, img_size=32)")
    with safe_open(tmp_path / "run" / "encoder.safetensors", framework="pt") as file:
        assert file.metadata()["loads into"] == line
    theirs = eval(line, {"timm": timm})
    theirs.load_state_dict(load_file(tmp_path / "run" / "encoder.safetensors"), strict=True)
    view = torch.randn(2, 3, 32, 32)
    ours = run.encoder.eval()((view,))[0][-2]
    features = theirs.eval().forward_features(view)[:, theirs.num_prefix_tokens :]
    torch.testing.assert_close(features.mT.reshape(ours.shape), ours)
