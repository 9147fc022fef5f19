"""The newcomer's path of CONTRIBUTING.md: its files and commands, in a fresh clone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENVIRONMENT = ("sudo", "git clone", "scripts/setup")
"""Commands that make the environment, which the test takes as it is."""


def steps():
    """("run", command) and ("write" or "add", file, text), in the order of the page."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    section = re.search(r"^## From nothing.*?\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)[1]
    found, before = [], ""
    for part in re.split(r"^(```\w+\n.*?^```)$", section, flags=re.MULTILINE | re.DOTALL):
        if part.startswith("```console\n"):
            lines = part.splitlines()[1:-1]
            found += [("run", line[2:]) for line in lines if line.startswith("$ ")]
        elif part.startswith("```python\n"):
            how, file = re.search(
                r"(Write|Add to)\s+`([\w/.]+)`:\s*(?:<!--.*-->\s*)?\Z", before
            ).groups()
            text = part.removeprefix("```python\n").removesuffix("```")
            found.append(("write" if how == "Write" else "add", file, text))
        before = part
    return found


def test_the_path_has_all_it_needs():
    kinds = [step[0] for step in steps()]
    assert kinds.count("write") == 2
    assert kinds.count("add") == 2
    commands = [step[1] for step in steps() if step[0] == "run"]
    assert commands.index("scripts/setup") < commands.index("scripts/check")
    assert commands[-1] == "scripts/check"


@pytest.fixture
def clone(tmp_path):
    """A clone of the newest commit, with what is not committed yet, and the environment."""
    place = tmp_path / "counterpoint"
    subprocess.run(["git", "clone", "--quiet", ROOT, place], check=True)
    changed = ["git", "ls-files", "--modified", "--others", "--exclude-standard"]
    listed = subprocess.run(changed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    (place / ".venv").symlink_to(sys.prefix)
    for cache in (".mypy_cache", ".import_linter_cache"):  # a newcomer's second run has them too
        if (ROOT / cache).is_dir():
            shutil.copytree(ROOT / cache, place / cache)
    return place


def follow(place):
    """Do every step; give how many commands were run."""
    environment = os.environ | {"PYTHONPATH": f"{place / 'src'}"}
    count = 0
    for kind, *what in steps():
        if kind == "run" and not what[0].startswith(ENVIRONMENT):
            done = subprocess.run(
                what[0], shell=True, cwd=place, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{what[0]}\n{done.stdout}\n{done.stderr}"
            count += 1
        elif kind != "run":
            file, text = place / what[0], what[1]
            assert file.exists() == (kind == "add"), file
            with file.open("a") as end:
                end.write("\n\n" + text if kind == "add" else text)
    return count


@pytest.mark.full
def test_a_newcomer_has_a_loss_of_their_own(clone):
    assert follow(clone) == 6
    status = subprocess.run(
        ["git", "diff", "--stat", "HEAD"], cwd=clone, capture_output=True, text=True, check=True
    )
    assert "tests/reference/losses.py" in status.stdout
    code = "from counterpoint.parts import PARTS; print(PARTS['SoftTriplet'].__module__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": f"{clone / 'src'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "counterpoint.parts.losses.soft_triplet"
