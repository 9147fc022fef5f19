"""Every code block of the site runs, or says that it is only shown and why."""

import json
import re
import shutil
import tomllib
from collections import Counter, defaultdict

import pytest
import yaml
from PIL import Image

from counterpoint.cli import main
from docs.blocks import ROOT, blocks, code_blocks, output_blocks
from docs.walk import commands, smaller, walk

SHOWN = 0.10
"""The share of blocks that may be shown only."""
RUN = ("python", "console")
PARSED = {"json": json.loads, "yaml": yaml.safe_load, "toml": tomllib.loads}
KINDS = ("lotus", "ketch", "umbrella")
LOOKS_LIKE_CODE = re.compile(
    r"^(\$ |>>> |counterpoint |scripts/bench |from \w+ import )", re.MULTILINE
)
MADE = "docs/gallery/"
"""Pages whose output is kept as it was made, a model card with code among it."""
WEIGHTS = "tf_efficientnet_lite0.safetensors"

EVERY_DAY = ("docs/api/index.md", "docs/methods/index.md", "docs/privacy.md")
"""Pages that run with every change; the others in the full tier."""
PAGES = defaultdict(list)
for _block in code_blocks():
    if _block.kind is None and _block.language in RUN:
        PAGES[_block.page].append(_block)


@pytest.fixture(scope="module")
def start(data, tmp_path_factory):
    """Photos, weights, a run and vectors, by the names that pages use."""
    place = tmp_path_factory.mktemp("start")
    for kind in KINDS:
        (place / "photos" / kind).mkdir(parents=True)
        for file in sorted((data / "caltech20" / kind).glob("*.jpg"))[:12]:
            picture = Image.open(file).convert("RGB")
            picture.thumbnail((96, 96))
            picture.save(place / "photos" / kind / file.name)
    shutil.copy(place / "photos" / KINDS[0] / "image_0001.jpg", place / "holiday.jpg")
    shutil.copy(place / "photos" / KINDS[1] / "image_0001.jpg", place / "cat.jpg")
    (place / "docs" / "results").mkdir(parents=True)
    for study in ("table1", "family"):
        shutil.copy(ROOT / "docs" / "results" / f"{study}.json", place / "docs" / "results")
    for name in (WEIGHTS, "lite0.safetensors"):
        (place / name).symlink_to(data / "weights" / WEIGHTS)
    photos, run = str(place / "photos"), str(place / "runs" / "photos")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        little = ["--encoder", "small", "--size", "32", "--steps", "2", "--batch-size", "8"]
        main(["pretrain", photos, *little, "--workers", "0", "--out", run])
        main(["embed", run, photos, "--copies", "4", "--out", str(place / "vectors")])
    return place


@pytest.mark.filterwarnings("ignore::UserWarning")  # Lightning's advice on loaders
@pytest.mark.parametrize(
    "page", [p if p in EVERY_DAY else pytest.param(p, marks=pytest.mark.full) for p in PAGES]
)
def test_every_block_of_a_page_runs(page, start, data, tmp_path, monkeypatch):
    place = tmp_path / "place"
    shutil.copytree(start, place, symlinks=True)
    monkeypatch.chdir(place)
    monkeypatch.setenv("COUNTERPOINT_DATA", str(data))
    walk(PAGES[page])


def test_data_blocks_can_be_read():
    for block in code_blocks():
        if block.language in PARSED and block.kind is None:
            PARSED[block.language](block.text)


def test_few_blocks_are_shown_only():
    """Count the blocks of the whole site, by how they are tested."""
    found = code_blocks()
    kinds = Counter(block.kind or "run here" for block in found)
    shown = [block for block in found if block.kind == "shown only"]
    print(f"{len(found)} code blocks: {dict(kinds)}")
    assert len(found) > 50
    assert len(shown) <= SHOWN * len(found), [f"{block}: {block.reason}" for block in shown]


def test_every_language_is_run_or_marked():
    known = {*RUN, *PARSED}
    assert [str(b) for b in code_blocks() if b.kind is None and b.language not in known] == []


def test_a_block_that_another_test_runs_is_known_there():
    for block in code_blocks():
        if block.kind == "run by":
            text = (ROOT / block.reason).read_text()
            lines = [line.strip() for line in block.text.splitlines() if len(line) > 20]
            *folders, name = block.page.split("/")
            names = (name, *folders[1:])
            known = any(word in text for word in (*names, *lines))
            assert known, f"{block}: {block.reason} has neither the page nor a line of it"


def test_output_holds_no_code():
    written = [b for b in output_blocks() if not b.page.startswith(MADE)]
    assert [str(b) for b in written if LOOKS_LIKE_CODE.search(b.text)] == []


def test_marks_and_commands_are_seen():
    page = ROOT / "docs" / "example.md"
    text = (
        "<!-- shown only: needs a cluster -->\n"
        "```console\n$ counterpoint x \\\n    --y\nout\n```\n\n"
        "```python\n1\n```\n\n    indented\n\n```{toctree}\nx\n```\n"
    )
    found = blocks(page, text)
    assert [(b.language, b.kind) for b in found] == [
        ("console", "shown only"),
        ("python", None),
        ("", None),
    ]
    assert [line.split() for line in commands(found[0].text)] == [["counterpoint", "x", "--y"]]
    assert smaller(["launch", "slurm", "--nodes", "2"])[2] == "--print"
