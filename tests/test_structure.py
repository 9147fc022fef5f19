"""The tree: no name twice, no long file, and what an addition costs."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "counterpoint"
FILES = sorted(SOURCE.rglob("*.py"))
MAX_LINES = 250
MAX_IGNORES = 8


def twice(names):
    found = defaultdict(list)
    for name, file in names:
        found[name].append(str(file.relative_to(SOURCE)))
    return {name: files for name, files in found.items() if len(files) > 1}


def public(kind):
    """Public definitions of one kind at the top of a file; re-exports are imports."""
    for file in FILES:
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, kind) and not node.name.startswith("_"):
                yield node.name, file


def test_no_file_name_stands_twice():
    assert twice((file.stem, file) for file in FILES if file.name != "__init__.py") == {}


@pytest.mark.parametrize("kind", [ast.ClassDef, ast.FunctionDef])
def test_no_public_class_or_function_stands_twice(kind):
    assert twice(public(kind)) == {}


def test_no_file_is_long():
    lengths = {str(file): len(file.read_text().splitlines()) for file in FILES}
    assert {file: length for file, length in lengths.items() if length >= MAX_LINES} == {}


def test_type_ignores_are_few_and_have_a_reason():
    found = [
        f"{file.name}: {line.strip()}"
        for file in FILES
        for line in file.read_text().splitlines()
        if "type: ignore" in line
    ]
    assert len(found) <= MAX_IGNORES, found
    assert [line for line in found if not re.search(r"type: ignore\[[a-z-]+\]  # \w+", line)] == []


def test_the_contract_about_lightning_names_every_other_module():
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = (c for c in tool["contracts"] if "Lightning" in c["name"])
    there = {place.stem for place in SOURCE.iterdir() if place.suffix == ".py" or place.is_dir()}
    others = there - {"__init__", "__pycache__", "training", "pretraining"}
    assert set(contract["source_modules"]) == {f"counterpoint.{name}" for name in others}


MODULES = {"faiss-cpu": "faiss", "pi-heif": "pi_heif", "umap-learn": "umap"}
"""What packages are imported as, where that is another name."""


def test_every_extra_has_code_behind_it_and_is_in_a_document():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    code = "\n".join(file.read_text() for file in FILES)
    pages = "\n".join(page.read_text() for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")])
    for extra, packages in project["optional-dependencies"].items():
        assert re.search(rf"(counterpoint|\.)\[{extra}\]", pages), extra
        for package in packages:
            name = re.match(r"[\w-]+", package)[0]
            module = MODULES.get(name, name)
            assert re.search(rf"(import|from) {module}\b|\"{module}\"", code), package


LOSS = '''
"""A throw-away loss."""
from dataclasses import dataclass
from typing import ClassVar
from counterpoint.framework import ALONE
from counterpoint.parts.losses.regression import Regression

@dataclass(frozen=True, slots=True)
class Thrown:
    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = False
    def build(self, bound):
        return self
    def __call__(self, scores, world=ALONE):
        return Regression()(scores, world)
'''

ENCODER = '''
"""A throw-away encoder."""
from dataclasses import dataclass
from typing import ClassVar
from torch import nn

@dataclass(frozen=True, slots=True)
class ThrownEncoder:
    part: ClassVar[str] = "encoder"
    def build(self, views):
        return ThrownNet(views[0][0])

class ThrownNet(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.net = nn.Conv2d(channels, 8, 3, stride=4)
    def forward(self, views):
        return tuple((self.net(view),) for view in views)
'''

METHOD = '''
"""A throw-away method."""
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.methods.simclr import simclr_small

ORIGIN = Origin(title="Thrown", authors="Nobody", year=2026, after="simclr", idea="Nothing.")

def thrown(encoder=None, *, size=32):
    return simclr_small(size=size) if encoder is None else simclr_small(encoder, size=size)

RECIPES = {"thrown": Recipe(thrown, Training(epochs=3))}
'''

COMMAND = '''
"""counterpoint thrown."""

def thrown_command(words: list[str], *, limit: int = 3) -> None:
    """Throw words away.

    Example:
        counterpoint thrown some words

    Args:
        words: Words to throw away.
        limit: Throw away the first N words.
    """
    print("threw", *words[:limit])
'''

SECTION = '''
"""A throw-away section."""
from counterpoint.report.markup import el
from counterpoint.report.material import Section

def thrown_section(material):
    return Section("thrown", "Thrown away", el("p", {}, f"{len(material.runs)} run thrown"))

SECTIONS = (thrown_section,)
'''

LAYOUT = '''
"""A throw-away layout."""
import torch
from counterpoint.data.layouts.layout import Layout
from counterpoint.data.layouts.arrays import array_file
from counterpoint.data.splitting import tenths

LAYOUT = Layout(
    "thrown images (thrown.npy)",
    lambda folder: (folder / "thrown.npy").is_file(),
    lambda folder: tenths(array_file(folder / "thrown.npy")),
)
'''

ADDITIONS = {  # what: its file and text, and the one line elsewhere, behind a line that is there
    "loss": (
        ("parts/losses/thrown_loss.py", LOSS),
        ("parts/losses/__init__.py", "Triplet as Triplet"),
        "from counterpoint.parts.losses.thrown_loss import Thrown as Thrown",
    ),
    "encoder": (
        ("parts/encoders/thrown_encoder.py", ENCODER),
        ("parts/encoders/__init__.py", "Timm as Timm"),
        "from counterpoint.parts.encoders.thrown_encoder import ThrownEncoder as ThrownEncoder",
    ),
    "method": (
        ("methods/thrown.py", METHOD),
        ("catalogue.py", '"yadim": '),
        '        "thrown": "a throw-away method",',
    ),
    "command": (
        ("cli/thrown.py", COMMAND),
        ("cli/commands.py", '"Measure": '),
        '    "Throw away": ("thrown",),',
    ),
    "section": (
        ("report/sections/thrown.py", SECTION),
        ("report/page.py", "ALONE = "),
        'ALONE = (*ALONE, "thrown")',
    ),
    "layout": (
        ("data/layouts/thrown.py", LAYOUT),
        ("data/layouts/detect.py", "LAYOUTS = "),
        'LAYOUTS = ("thrown", *LAYOUTS)',
    ),
}

SHOWN = """
import sys
from pathlib import Path
import numpy as np
import counterpoint
from counterpoint.cli import main
from counterpoint.cli.help import overview
from counterpoint.data import open_data
from counterpoint.methods import RECIPES, method_named, read_method
from counterpoint.parts import PARTS
from counterpoint.report import write_report

assert counterpoint.__file__.startswith(str(Path.cwd())), counterpoint.__file__
method = method_named("thrown", size=32)
assert RECIPES["thrown"].training.epochs == 3
mine = method.swap(loss=PARTS["Thrown"](), encoder=PARTS["ThrownEncoder"]())
assert read_method(mine.to_json()) == mine
model = mine.build(image=(3, 32, 32))
main(["methods"])
main(["thrown", "one", "two", "--limit", "1"])
assert "thrown    Throw words away." in overview()
run = Path("run")
run.mkdir()
(run / "run.json").write_text("{}")
(run / "method.json").write_text(method.to_json())
assert "1 run thrown" in write_report([run], Path("report.html")).read_text()
np.save("images/thrown.npy", np.zeros((40, 32, 32, 3), dtype=np.uint8))
assert len(open_data("images").train) > 30
"""


def test_an_addition_is_one_file_and_one_line(tmp_path):
    """A loss, an encoder, a method, a command, a section and a layout, in a copy of the tree."""
    copy = tmp_path / "src" / "counterpoint"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for (file, text), (elsewhere, behind), line in ADDITIONS.values():
        assert not (copy / file).exists()
        (copy / file).write_text(text.lstrip())
        lines = (copy / elsewhere).read_text().splitlines()
        (place,) = (number for number, one in enumerate(lines) if behind in one)
        lines.insert(place + 1, line)
        (copy / elsewhere).write_text("\n".join(lines) + "\n")
    (tmp_path / "images").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SHOWN],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "src"), "COLUMNS": "80"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "a throw-away method" in done.stdout
    assert done.stdout.endswith("threw one\n")
