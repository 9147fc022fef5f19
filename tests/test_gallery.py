"""The gallery: every example runs, and its page was made from the source that is there."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))
PAGES = ROOT / "docs" / "gallery"


def test_there_are_enough_of_them():
    assert len(EXAMPLES) >= 12
    assert {page.stem for page in PAGES.glob("*.md")} == {e.stem for e in EXAMPLES} | {"index"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_its_page_was_made_from_it(example):
    made = json.loads((PAGES / "made.json").read_text())[example.stem]
    source = hashlib.sha256(example.read_bytes()).hexdigest()
    assert made["source"] == source, f"scripts/gallery {example.stem} makes the page again"
    assert made["cpu_seconds"] <= 120
    assert 20 <= len(example.read_text().splitlines()) <= 90
    page = (PAGES / f"{example.stem}.md").read_text()
    assert page.startswith(f"# {made['title']}\n")
    for picture in made["pictures"]:
        assert f"]({picture})" in page
        assert (PAGES / picture).stat().st_size < 400_000


def test_all_of_them_run(data, tmp_path):
    """On few images, one after the other in one process."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/gallery", "--smoke", "--out", tmp_path],
        env=os.environ | {"COUNTERPOINT_DATA": str(data), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    made = json.loads((tmp_path / "made.json").read_text())
    assert made.keys() == {example.stem for example in EXAMPLES}
    kept = json.loads((PAGES / "made.json").read_text())
    for name, one in made.items():
        assert one["pictures"] == kept[name]["pictures"], name
