"""The code blocks of the site's pages, and what each says about how it is tested."""

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
INCLUDED = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
"""Documents at the root that pages in docs/about/ include."""
OUTPUT = ("", "text")
"""Languages of what is not code: output, pictures of letters."""
OTHERS = {
    "docs/gallery/": "tests/test_gallery.py",
    "docs/python.md": "tests/uses/test_page.py",
    "docs/ten-minutes.md": "tests/test_ten_minutes.py",
    "docs/write-a-part.md": "tests/checking/test_write_a_part.py",
}
"""Pages, or folders of them, whose blocks are all run by a test of their own."""
MARK = re.compile(r"<!-- (?P<kind>shown only|run by):? (?P<reason>[^>]+?) -->\s*")


@dataclass(frozen=True)
class Block:
    """A code block: where it is, what it says, and the mark before it."""

    page: str
    line: int
    language: str
    text: str
    kind: str | None = None
    reason: str = ""

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages():
    """List the pages of the site that a person has written."""
    return [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in INCLUDED)]


def blocks(page, text=None):
    """List the fenced and indented blocks of a page; directives such as {toctree} are none."""
    name = str(page.relative_to(ROOT))
    tokens = MarkdownIt("commonmark").enable("table").parse(text or page.read_text())
    found = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type not in ("fence", "code_block") or token.info.startswith("{"):
            continue
        mark = MARK.search(before.content) if before and before.type == "html_block" else None
        kind, reason = (mark["kind"], mark["reason"]) if mark else (None, "")
        if not mark and (other := OTHERS.get(name) or OTHERS.get(name.rpartition("/")[0] + "/")):
            kind, reason = "run by", other
        line = token.map[0] + 1
        found.append(Block(name, line, token.info.strip(), token.content, kind, reason))
    return found


def code_blocks():
    """List the blocks of all pages that hold code."""
    return [one for page in pages() for one in blocks(page) if one.language not in OUTPUT]


def output_blocks():
    """List the blocks of all pages that are output or pictures."""
    return [one for page in pages() for one in blocks(page) if one.language in OUTPUT]
