"""The Python file of a candidate: it is the candidate, it is formatted, and it runs."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from counterpoint.design.method_file import method_source
from counterpoint.run import Run
from design.compositions import BATCH, composed, in_small_batches, population

ROOT = Path(__file__).parents[2]
SCREEN = 60
SOME = 24


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Every known method and some compositions, each with its file."""
    folder = tmp_path_factory.mktemp("found")
    found = []
    for number, one in enumerate([*population(), *composed(SOME, seed=9)]):
        file = folder / f"method_{number:02d}.py"
        file.write_text(method_source(one, name="found"))
        found.append((one, file))
    return found


def test_a_file_is_the_candidate(files):
    for one, file in files:
        said = runpy.run_path(str(file))
        assert said["METHOD"].fingerprint == one.method.fingerprint, one.change
        assert said["TRAINING"] == one.settings


def test_a_file_is_formatted_and_fits_a_screen(files):
    paths = [str(file) for _, file in files]
    config = ["--config", str(ROOT / "pyproject.toml")]
    for words in (["format", "--check"], ["check", "--select=E,F,I,D1"]):
        asked = [sys.executable, "-m", "ruff", *words, "--no-cache", *config, *paths]
        said = subprocess.run(asked, capture_output=True, text=True)
        assert said.returncode == 0, said.stdout + said.stderr
    assert max(len(file.read_text().splitlines()) for _, file in files) <= SCREEN


def test_a_file_runs_as_a_program(tmp_path):
    images = np.random.default_rng(0).integers(256, size=(2 * BATCH, 32, 32, 3), dtype=np.uint8)
    (tmp_path / "images").mkdir()
    for number, pixels in enumerate(images):
        Image.fromarray(pixels).save(tmp_path / "images" / f"{number:02d}.png")
    one = next(one for one in population() if one.change == "siglip-small")
    file = tmp_path / "method.py"
    file.write_text(method_source(in_small_batches(one), name="found"))
    asked = [sys.executable, str(file), str(tmp_path / "images"), str(tmp_path / "run"), "2"]
    said = subprocess.run(asked, capture_output=True, text=True, timeout=300)
    assert said.returncode == 0, said.stdout + said.stderr
    assert Run.open(tmp_path / "run").method == one.method
