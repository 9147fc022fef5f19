"""The build: every page is there, every link leads somewhere, and a warning is an error."""

import subprocess
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from docs.blocks import ROOT, pages

BROKEN = {
    "a page that is not there": "# Home\n\n[x](missing.md)\n",
    "a heading that is not there": "# Home\n\n[x](#missing)\n",
    "a picture that is not there": "# Home\n\n![x](missing.png)\n",
    "a level that is left out": "# Home\n\n### Third\n",
}


class Links(HTMLParser):
    """What a page has (ids) and what it asks for (links)."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found[name] for name in ("id", "name") if found.get(name)}
        if target := found.get("href") or found.get("src"):
            (self.links if tag == "a" else self.loaded).add(target)


@pytest.fixture(scope="module")
def read(site):
    return {
        file: Links(file.read_text())
        for file in site.rglob("*.html")
        if "_static" not in file.relative_to(site).parts
    }


def test_every_page_is_in_the_site(site):
    shown = [page for page in pages() if page.is_relative_to(ROOT / "docs")]
    assert len(shown) > 50
    for page in shown:
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file(), page


def test_every_link_inside_of_the_site_leads_somewhere(read):
    lost = defaultdict(set)
    followed = 0
    for file, page in read.items():
        for link in page.links | page.loaded:
            address, anchor = urldefrag(link)
            if address.startswith(("http:", "https:", "mailto:", "data:")):
                continue
            path = address.partition("?")[0]
            target = (file.parent / unquote(path)).resolve() if path else file
            followed += 1
            there = target.exists()
            if there and anchor and target in read:
                there = unquote(anchor) in read[target].ids
            if not there:
                lost[file.name].add(link)
    assert followed > 1000
    assert lost == {}


def test_nothing_is_loaded_from_elsewhere(read):
    elsewhere = {
        link
        for page in read.values()
        for link in page.loaded
        if link.startswith(("http:", "https:", "//"))
    }
    assert elsewhere == set()


@pytest.mark.parametrize("page", BROKEN.values(), ids=BROKEN)
def test_a_mistake_ends_the_build(page, tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text(page)
    command = [ROOT / "scripts" / "docs", tmp_path / "site", tmp_path / "pages"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "WARNING" in done.stderr
    assert not Path(tmp_path / "site").exists()  # so that the next build says it again


def test_a_link_to_a_page_that_is_gone_ends_the_next_build(tmp_path):
    """The page with the link did not change: a build that reads only changes would miss it."""
    pages, command = tmp_path / "pages", [ROOT / "scripts" / "docs"]
    pages.mkdir()
    (pages / "index.md").write_text("# Home\n\n```{toctree}\n:glob:\n\n*\n```\n")
    (pages / "linked.md").write_text("# Linked\n")
    (pages / "page.md").write_text("# Page\n\n[x](linked.md)\n")
    there = [tmp_path / "site", pages]
    assert subprocess.run([*command, *there], capture_output=True).returncode == 0
    (pages / "linked.md").unlink()
    done = subprocess.run([*command, *there], capture_output=True, text=True)
    assert done.returncode != 0
    assert "linked.md" in done.stderr
