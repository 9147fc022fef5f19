"""No stage keeps state, imports another part, or has chance of its own."""

import ast
from dataclasses import FrozenInstanceError, fields, is_dataclass
from pathlib import Path

import pytest
import torch

from counterpoint.parts import PARTS, views
from counterpoint.parts.views import ColourJitter, GaussianBlur, RandomResizedCrop, Translation
from counterpoint.parts.views.stage_plan import apply
from drawing import numbers

FILES = sorted(Path(views.__file__).parent.glob("*.py"))


def imported(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_but_the_framework_and_views(file):
    for name in imported(file):
        assert not name.startswith(("random", "numpy.random", "torch.random"))
        if name.startswith("counterpoint."):
            assert name.startswith(("counterpoint.framework", "counterpoint.parts.views"))


# ViewTransform draws from torch's generator by choice: people expect that of a transform.
STRICT = [file for file in FILES if file.stem != "transform"]


@pytest.mark.parametrize("file", STRICT, ids=lambda file: file.stem)
def test_no_chance_but_the_numbers(file):
    """No call of torch.rand, numpy.random or a generator; nothing global, nothing kept."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith(("rand", "bernoulli", "multinomial", "uniform_"))
        assert not isinstance(node, ast.Global | ast.Nonlocal)


@pytest.mark.parametrize("stage", ["RandomResizedCrop", "ColourJitter", "Patches", "Pipeline"])
def test_settings_are_frozen(stage):
    made = {"RandomResizedCrop": (24,), "ColourJitter": (1, 1, 1, 0), "Patches": (8,)}
    one = PARTS[stage](*made.get(stage, ((),)))
    assert is_dataclass(one)
    with pytest.raises(FrozenInstanceError):
        setattr(one, fields(one)[0].name, 3)


@pytest.mark.parametrize(
    "stage",
    [RandomResizedCrop(20), Translation(4), ColourJitter(0.4, 0.4, 0.4, 0.1), GaussianBlur(5)],
)
def test_the_same_numbers_give_the_same_and_change_nothing(stage, cifar):
    images = cifar.train.images[:50].clone()
    drawn = numbers(stage, 50)
    first, kept = apply(stage, images, drawn), drawn.clone()
    torch.manual_seed(1)
    assert torch.equal(apply(stage, images, drawn), first)
    assert torch.equal(images, cifar.train.images[:50])
    assert torch.equal(drawn, kept)
