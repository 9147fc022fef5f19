"""The page docs/ten-minutes.md: its commands run in order, and its last lines without torch."""

import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from counterpoint.cli import main

PAGE = Path(__file__).parents[1] / "docs" / "ten-minutes.md"
WEIGHTS = "tf_efficientnet_lite0.safetensors"
SHORTER = {
    "counterpoint doctor": ["--seconds", "0"],
    "counterpoint pretrain": ["--steps", "2"],
    "counterpoint embed": ["--copies", "10"],
    "counterpoint curate": ["--select", "20"],
    "counterpoint export": ["--only", "onnx"],
}
"""What is added to a command, for CI: of an option given twice the last is taken."""
WITHOUT = "import sys; sys.modules.update(dict.fromkeys(('torch', 'counterpoint', 'timm')))\n"


def commands():
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert all(line.startswith("$ counterpoint ") for line in lines)
    return [shlex.split(line[2:]) for line in lines]


def walk(place, *, shorter):
    for words in commands():
        began = time.monotonic()
        main([*words[1:], *(SHORTER.get(" ".join(words[:2]), []) if shorter else [])])
        print(f"{time.monotonic() - began:6.1f} s  {' '.join(words[:2])}")
    for made in ("report.html", "gallery.html", "curated/gallery.html", "encoder/model.onnx"):
        assert (place / made).stat().st_size > 1000, made
    assert (place / "curated" / "decisions.csv").read_text().count("\n") > 1
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + block], capture_output=True, text=True, cwd=place
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("most like photos/")


@pytest.fixture
def place(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / WEIGHTS).symlink_to(data / "weights" / WEIGHTS)
    return tmp_path


def test_the_walk(data, place):
    """On ten photos of six classes, with a few steps."""
    for kind in ("lotus", "laptop", "ketch", "sunflower", "umbrella", "grand_piano"):
        (place / "photos" / kind).mkdir(parents=True)
        for file in sorted((data / "caltech20" / kind).glob("*.jpg"))[:10]:
            shutil.copy(file, place / "photos" / kind)
    walk(place, shorter=True)


@pytest.mark.full
def test_the_whole_walk_takes_ten_minutes(data, place):
    """On all photos, with every step, by the clock of a machine that nobody else uses."""
    (place / "photos").symlink_to(data / "caltech20")
    began = time.monotonic()
    walk(place, shorter=False)
    minutes = (time.monotonic() - began) / 60
    print(f"{minutes:.1f} minutes")
    assert minutes < 10
