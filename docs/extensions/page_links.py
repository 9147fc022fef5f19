"""Turn paths of pages into links, so that a document reads the same in the repository and here.

The documents name each other as paths in backticks, `docs/health.md`. Here such a path is a link.
A link to a document outside of docs/ leads to the page that includes it.
"""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

INCLUDED = {
    "ARCHITECTURE.md": "about/architecture",
    "CHANGELOG.md": "about/changelog",
    "CODE_OF_CONDUCT.md": "about/conduct",
    "CONTRIBUTING.md": "about/contributing",
    "README.md": "index",
    "SECURITY.md": "about/security",
}
"""Documents at the root of the repository, and the page of the site that has their text."""
PATH = re.compile(r"docs/(?P<page>[\w/-]+)\.md(?P<anchor>#[\w-]+)?")


def page_of(path: str, known: set[str]) -> str | None:
    """Return the name of the page that shows a document of the repository."""
    if path in INCLUDED:
        return INCLUDED[path]
    match = PATH.fullmatch(path)
    return match["page"] if match and match["page"] in known else None


def reference(page: str, content: nodes.Node, current: str) -> addnodes.pending_xref:
    """Return a link to a page."""
    link = addnodes.pending_xref(
        "", refdomain="std", reftype="doc", reftarget=f"/{page}", refdoc=current, refexplicit=True
    )
    link += content
    return link


def link_paths(app: Sphinx, doctree: nodes.document) -> None:
    """Replace paths of pages in a document that was just read."""
    current = app.env.docname
    known = set(app.env.found_docs)
    for literal in list(doctree.findall(nodes.literal)):
        page = page_of(literal.astext(), known)
        inside = literal.parent
        while inside is not None and not isinstance(
            inside, (nodes.reference, addnodes.pending_xref, nodes.title)
        ):
            inside = inside.parent
        if page and page != current and inside is None:
            literal.replace_self(reference(page, literal.deepcopy(), current))
    for link in list(doctree.findall(addnodes.download_reference)):
        page = page_of(link["reftarget"].removeprefix("../").removeprefix("../"), known)
        if page:
            text = nodes.inline("", link.astext())
            link.replace_self(reference(page, text, current))


def setup(app: Sphinx) -> dict[str, Any]:
    """Join Sphinx."""
    app.connect("doctree-read", link_paths)
    return {"version": "1", "parallel_read_safe": True}
