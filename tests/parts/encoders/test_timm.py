"""Encoders of timm: trained, saved, opened again and given back to timm, they stay the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from counterpoint.framework import PartError
from counterpoint.parts.encoders import Timm, encoder_named
from counterpoint.parts.encoders.timm import create_options
from parts.encoders.timm_names import NAMES, QUICK, REFUSED, SIDE, SIDES
from parts.encoders.timm_table import table
from parts.encoders.timm_trial import Pair, trial

SAME = 1e-5
DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def pair():
    with Pair() as ranks:
        yield ranks


def names():
    """A dozen in every run, all in the full one."""
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in NAMES]


def assert_the_same(found, name):
    assert not found.failed
    if name in REFUSED:
        assert name in found.refused
        return
    assert not found.refused
    assert found.opened <= SAME
    assert found.timm <= SAME


@pytest.mark.parametrize("name", names())
def test_on_two_ranks(name, pair):
    assert_the_same(pair.trial(name, SIDES.get(name, SIDE)), name)


@pytest.mark.parametrize("name", names())
def test_with_the_groups_of_moco(name):
    assert_the_same(trial(name, "moco", SIDES.get(name, SIDE)), name)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_on_one_process(name):
    assert_the_same(trial(name, "one", SIDES.get(name, SIDE)), name)


def test_what_was_found_is_what_is_documented():
    found = json.loads((DOCS / "results" / "timm-encoders.json").read_text())["found"]
    assert set(found) == set(NAMES)
    assert len(found) >= 40
    assert len({one["family"] for one in found.values()}) >= 15
    for name, one in found.items():
        for way in ("one", "two", "moco"):
            assert not one[way]["failed"]
            assert bool(one[way]["refused"]) == (name in REFUSED)
            assert name in REFUSED or max(one[way]["opened"], one[way]["timm"]) <= SAME
    assert table(found) in (DOCS / "encoders.md").read_text()


@pytest.mark.full
def test_a_run_on_two_devices_opens_as_what_was_trained(tmp_path):
    script = Path(__file__).with_name("two_devices.py")
    done = subprocess.run(
        [sys.executable, script, tmp_path / "run"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split("apart ")[1]) <= SAME


@pytest.mark.parametrize(
    ("name", "side", "said"),
    [
        ("convit_tiny", 64, "got convit_tiny, which shows no feature maps"),
        ("inception_v4", 32, r"got inception_v4 on views of 3 x 32 x 32, .*own are of 3 x 299"),
    ],
)
def test_what_cannot_be_an_encoder_is_refused_by_its_name(name, side, said):
    with pytest.raises(PartError, match=said):
        Timm(name).build(((3, side, side),))


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("vit_tiny_patch16_224", ("norm.weight", "norm.bias")),
        ("efficientnet_lite0", ("conv_head.weight", "bn2.weight")),
        ("ghostnet_050", ("blocks.9.0.conv.weight",)),
        ("resnetv2_18", ("norm.weight",)),
        ("swin_tiny_patch4_window7_224", ("norm.weight",)),
    ],
)
def test_what_comes_before_the_pooling_is_trained(name, weights):
    with torch.device("meta"):
        encoder = Timm(name).build(((3, 64, 64),))
        encoder((torch.empty(2, 3, 64, 64),))[0][-1].sum().backward()
    trained = dict(encoder.backbone.named_parameters())
    for weight in weights:
        assert trained[weight].grad is not None


def test_a_size_of_its_own():
    assert create_options("levit_128s", 3, (64, 64))["img_size"] == 64
    assert create_options("levit_128s", 3, (64, 96))["img_size"] == (64, 96)
    assert "img_size" not in create_options("convnext_atto", 3, (64, 64))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("timm/vit_tinny_patch16_224", "vit_tiny_patch16_224"),
        ("timm/resnet_18", "resnet18"),
        ("vit_tiny_patch16_224", "timm/vit_tiny_patch16_224"),
        ("resnet81", "resnet18"),
        ("torchvision/resnet81", "resnet18"),
        ("smal", "small"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(typed, meant):
    with pytest.raises(PartError, match=f"did you mean {meant}( or |\\?)"):
        encoder_named(typed, size=64)
