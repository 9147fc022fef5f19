"""docs/methods: pictures are those of the code, figures those of the result files."""

import importlib.machinery
import importlib.util
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from counterpoint.methods import ALL, ORIGINS, SEVEN, views_named

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "methods"
HEADINGS = ["Five parts", "Equation", "The same as a loop", "Numbers", "What differs", "Views"]
ROWS = {name: name.upper() for name in SEVEN} | {"simclr": "SimCLR", "moco": "MoCo"}


@pytest.fixture(scope="module")
def drawer():
    path = ROOT / "scripts" / "method_pictures"
    loader = importlib.machinery.SourceFileLoader("method_pictures", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ALL)
def test_the_picture_is_that_of_the_method(drawer, name):
    drawn = drawer.picture(name)
    assert drawn == (PAGES / f"{name}.svg").read_text(), "run scripts/method_pictures"


@pytest.mark.parametrize("name", ALL)
def test_every_page_has_all_sections_and_a_loop_that_exists(name):
    page = (PAGES / f"{name}.md").read_text()
    headings = [one for one in re.findall(r"^## (.+)$", page, re.M) if one != "How it was found"]
    assert headings == [*HEADINGS, "Try it"]
    file, function = re.search(
        r"tests/reference/(\w+)\.py\n:language: python\n:pyobject: (\w+)", page
    ).groups()
    assert callable(getattr(import_module(f"reference.{file}"), function))


@pytest.mark.parametrize("name", ALL)
def test_every_page_shows_views_and_says_where_the_idea_comes_from(name):
    """A method whose views are those of another shows the other's picture."""
    page, origin = (PAGES / f"{name}.md").read_text(), ORIGINS[name]
    shown = re.search(r"^!\[.+\]\(\.\./views/(\w+)\.webp\)$", page, re.M)[1]
    assert (ROOT / "docs" / "views" / f"{shown}.webp").exists()
    if shown != name:
        assert views_named(name, size=64) == views_named(shown, size=64), f"scripts/sheets {name}"
    assert page.startswith(f"# {origin.title}\n")
    assert f"{origin.authors} {origin.year}" in page.replace("\n", " ")
    assert origin.arxiv in page


def percent(row):
    """Read a cell of table 3, which tests/study/test_results.py holds to its outcomes."""
    table = (ROOT / "docs" / "results.md").read_text().partition("### Table 3")[2]
    mean, deviation = re.search(rf"^\| {row} \| \**([\d.]+)\** ± ([\d.]+)", table, re.M).groups()
    return f"{float(mean) / 100:.3f}", f"{float(deviation) / 100:.3f}"


MEASURED = [n for n in ALL if (ROOT / "docs" / "results" / f"learn-{n}-small.json").exists()]


@pytest.mark.parametrize("name", MEASURED)
def test_our_figures_are_those_that_were_measured(name):
    page = (PAGES / f"{name}.md").read_text()
    run = json.loads((ROOT / "docs" / "results" / f"learn-{name}-small.json").read_text())
    assert (
        f"| ours, `{name}-small`, {run['images']:,} images, {run['core minutes']:.0f} core minutes "
        f"| kNN | {run['knn, random weights']:.3f} | **{run['knn, trained']:.3f}** |"
    ) in page
    gain = 100 * (run["knn, trained"] - run["knn, random weights"])
    chosen = (ROOT / "docs" / "choose.md").read_text()
    for line in (line for line in chosen.splitlines() if line.startswith("|")):
        if f"`{name}-small`" in line and "points of kNN" in line:
            assert f"+{gain:.1f} points of kNN" in line


@pytest.mark.parametrize("name", SEVEN)
def test_our_linear_figures_are_those_of_table_3(name):
    page = (PAGES / f"{name}.md").read_text()
    (random, around), (trained, spread) = percent("random weights"), percent(ROWS[name])
    assert f"| linear | {random} ± {around} | **{trained}** ± {spread} |" in page
