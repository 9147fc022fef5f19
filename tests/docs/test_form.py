"""A guide starts with what it takes and ends in something to try, which a test runs."""

import re

import pytest

from docs.blocks import ROOT, blocks

WITHOUT = {"index", "questions", "decisions", "scale"}
"""Pages that only lead to others."""
GUIDES = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem not in WITHOUT]
METHODS = [
    page for page in sorted((ROOT / "docs" / "methods").glob("*.md")) if page.stem != "index"
]
COMMAND = ("console", "python")


@pytest.mark.parametrize("page", [*GUIDES, *METHODS], ids=lambda page: page.stem)
def test_a_page_starts_with_what_it_takes(page):
    title, empty, takes, *_ = page.read_text().splitlines()
    assert title.startswith("# ")
    assert empty == ""
    assert takes.startswith("*Takes: ")


@pytest.mark.parametrize("page", [*GUIDES, *METHODS], ids=lambda page: page.stem)
def test_a_page_ends_in_a_command_that_a_test_runs(page):
    text = page.read_text()
    last = text.count("\n", 0, [m.start() for m in re.finditer(r"^## ", text, re.MULTILINE)][-1])
    tried = [b for b in blocks(page) if b.line > last and b.language in COMMAND]
    assert tried, "the last section has no command"
    assert [b.reason for b in tried if b.kind == "shown only"] == []
    assert text.rstrip().rpartition("\n\n")[2].count("]("), "the last lines lead to another page"


def test_no_page_has_the_name_of_one_that_the_builder_writes():
    """A guide called search.md was built, and then replaced by the page of search results."""
    assert {page.stem for page in GUIDES} & {"search", "genindex", "py-modindex"} == set()
