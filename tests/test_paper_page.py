"""docs/paper.md is not behind the code: nothing that can be imported is said to be missing."""

import re
from pathlib import Path

import pytest

from counterpoint import data, evaluation
from counterpoint.methods import METHODS
from counterpoint.parts import PARTS

PAGE = Path(__file__).parents[1] / "docs" / "paper.md"
SOURCE = PAGE.parents[1] / "src" / "counterpoint"
MISSING = re.compile(r"not yet|to come|only method", re.IGNORECASE)
NAMES = {name.lower() for name in (*METHODS, *PARTS, *data.__all__, *evaluation.__all__)}


def stale(text):
    """List lines that say something is missing beside a name that can be imported."""
    found = []
    for line in text.splitlines():
        words = {re.sub(r"\W", "", word).lower() for word in re.split(r"[\s`(|,;]+", line)}
        if MISSING.search(line) and (known := words & NAMES):
            found.append((sorted(known), line))
    return found


def test_nothing_that_can_be_imported_is_said_to_be_missing():
    assert stale(PAGE.read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        "| 4, STL-10 and ImageNet | not yet | not yet |",
        "SimCLR is the only method that is composed.",
        "| Decided, not yet built: a linear probe beside it. |",
        "| `(j:k)` | `Compare` is to come |",
    ],
)
def test_the_test_sees_what_is_stale(line):
    assert stale(line)


def test_every_file_and_name_in_its_tables_is_there():
    text = PAGE.read_text()
    files = set(re.findall(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`", text))
    root = PAGE.parents[1]
    missing = [f for f in files if not (SOURCE / f).is_file() and not (root / f).is_file()]
    assert not missing
    for file, name in re.findall(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)` `(\w+)`", text):
        if (SOURCE / file).is_file():
            assert re.search(rf"(class|def) {name}\b|^{name}\b", (SOURCE / file).read_text(), re.M)
