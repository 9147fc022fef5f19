"""Checks of a composition: a good one passes, a broken one is told what is wrong."""

import os
import re
import sys
from pathlib import Path

import torch

import forked
from counterpoint.checking import check
from counterpoint.checking.checks import _reached
from counterpoint.methods import ALL, METHODS, read_method, simclr
from counterpoint.parts.encoders import Timm
from counterpoint.parts.own import own_parts

HERE = Path(__file__).parent
COUNTERPOINT = Path(sys.executable).with_name("counterpoint")


def verdicts(method, **options):
    return {v.name: v for v in check(method, (3, 32, 32), count=8, **options)}


def test_a_method_with_a_memory_passes():
    found = verdicts(METHODS["moco-small"](size=32))
    assert len(found) == 6
    assert all(v.well for v in found.values()), found


def test_a_loss_of_a_user_in_python():
    parts = own_parts(HERE / "my_parts.py")
    method = METHODS["simclr-small"](size=32).swap(loss=parts["Margin"](margin=0.2))
    again = read_method(method.to_json(), parts=parts)
    assert again == method
    found = verdicts(method, parts=str(HERE / "my_parts.py"))
    assert all(v.well for v in found.values()), found


def test_a_broken_loss_is_found_out():
    parts = own_parts(HERE / "my_parts.py")
    method = METHODS["simclr-small"](size=32).swap(loss=parts["Deaf"]())
    found = verdicts(method, parts=str(HERE / "my_parts.py"))
    assert not found["learning"].well


def test_weights_that_are_never_trained_are_listed():
    torch.manual_seed(0)
    model = simclr(Timm("test_convnext"), size=32).build(image=(3, 32, 32))
    verdict = _reached(model, (3, 32, 32), 4)
    assert not verdict.well
    assert "saved as they started: encoder.backbone.head.norm.weight" in verdict.found
    model = simclr(Timm("test_vit"), size=32).build(image=(3, 32, 32))
    assert _reached(model, (3, 32, 32), 4).well  # its last norm is trained


def test_the_command_with_parts_of_a_user(data, tmp_path):
    parts = own_parts(HERE / "my_parts.py")
    method = METHODS["simclr-small"](size=32).swap(loss=parts["Margin"](margin=0.2))
    (tmp_path / "mine.json").write_text(method.to_json())
    arguments = ["pretrain", data / "cifar10", "--method", "mine.json", "--limit", "64"]
    options = [
        "--parts",
        HERE / "my_parts.py",
        "--steps",
        "2",
        "--batch-size",
        "16",
        "--out",
        "run",
    ]
    done = forked.run(
        [COUNTERPOINT, *arguments, *options], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "my_parts.py: Margin, Deaf" in done.stderr
    without = forked.run(
        [COUNTERPOINT, *arguments, "--out", "run"], cwd=tmp_path, capture_output=True, text=True
    )
    assert without.returncode != 0
    assert "Margin" in without.stderr


def test_all_methods_are_rows():
    wide = os.environ | {"COLUMNS": "200"}
    words = [COUNTERPOINT, "anatomy", "all"]
    done = forked.run(words, capture_output=True, text=True, env=wide)
    assert done.returncode == 0
    for name in ALL:
        assert re.search(rf"\b{name} +│ \d{{4}} │", done.stdout)
