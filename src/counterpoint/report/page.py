"""One page: a head that forbids the network, the top, and the sections below each other."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from counterpoint.report.markup import Html, el, join, script_hash
from counterpoint.report.material import Material, Section
from counterpoint.report.palette import variables
from counterpoint.report.sections.headline import lead, page_title, short_data, tiles, verdict_box

HERE = Path(__file__).parent
PICTURES, FIGURES = ("neighbours", "sheet", "map"), ("probes", "confusion", "robustness")
ALONE = ("curves", "health", *PICTURES, *FIGURES, "parts", "setup")
"""The sections of a page, in order: `SECTIONS` of sections/NAME.py."""
FIRST = ("parts", *FIGURES)
"""Of several runs, where they differ and what came of it is shown first."""


def _sections(*, several: bool) -> list[Callable[[Material], Section | None]]:
    names = (*FIRST, *(name for name in ALONE if name not in FIRST)) if several else ALONE
    files = (import_module(f"counterpoint.report.sections.{name}") for name in names)
    return [make for file in files for make in file.SECTIONS]


def page(material: Material) -> str:
    """Return the whole page of one or more runs."""
    found = [make(material) for make in _sections(several=material.several)]
    sections = [section for section in found if section is not None]
    return page_frame(f"{page_title(material)} · counterpoint", _top(material), sections)


def page_frame(title: str, top: Html, sections: Sequence[Section]) -> str:
    """Return a whole page: a head that forbids the network, the top, and sections."""
    style, script = (HERE / "style.css").read_text(), (HERE / "page.js").read_text()
    head = el(
        "head",
        {},
        el("meta", {"charset": "utf-8"}),
        el("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        el("meta", {"http-equiv": "Content-Security-Policy", "content": _policy(script)}),
        el("meta", {"name": "color-scheme", "content": "light dark"}),
        el("title", {}, title),
        Html(f"<style>{variables()}{style}</style>"),
    )
    body = el(
        "body",
        {},
        el("a", {"class": "skip", "href": "#main"}, "Skip to the report"),
        top,
        _contents(sections),
        el("main", {"id": "main"}, *(_section(section) for section in sections)),
        el("footer", {}, "Made by counterpoint. This file needs no network and sends nothing."),
        Html(f"<script>{script}</script>"),
    )
    return "<!doctype html>\n" + el("html", {"lang": "en"}, head, body) + "\n"


def _policy(script: str) -> str:
    """Allow our one script, our style and pictures inside the file; nothing else is ever loaded."""
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src '{script_hash(script)}'; base-uri 'none'; form-action 'none'"
    )


def _top(material: Material) -> Html:
    verdicts = [verdict_box(run, material.badge(n)) for n, run in enumerate(material.runs)]
    shown = [one for one in verdicts if one is not None]
    inside = el(
        "div",
        {"class": "top"},
        el(
            "div",
            {},
            el("p", {"class": "brand"}, "counterpoint ", el("span", {}, "report")),
            el("h1", {}, page_title(material).replace("-", "\u2011")),
            lead(material),
            _about(material),
        ),
        el("div", {"class": "verdicts"}, *shown) if shown else None,
    )
    figures = None if material.several else tiles(material.runs[0], material)
    return el("header", {}, Html(STAFF), inside, figures)


STAFF = '<div class="staff" aria-hidden="true"><i></i><i></i><i></i><i></i><i></i></div>'
"""Five lines, as in music: one for each part."""


def _about(material: Material) -> Html:
    """Say what was trained on what; of several runs, in a list with their letters."""
    if not material.several:
        run = material.runs[0]
        known = [run.data, f"method {run.fingerprint}" if run.fingerprint else None, run.folder]
        return el("p", {"class": "about"}, " · ".join(filter(None, known)))
    items = []
    for place, run in enumerate(material.runs):
        data = short_data(run)
        words = " · ".join(filter(None, [run.name, data, run.folder]))
        items.append(el("li", {}, material.badge(place), words))
    return el("ul", {"class": "about runs"}, *items)


def _contents(sections: Sequence[Section]) -> Html:
    links = [el("li", {}, el("a", {"href": f"#{s.key}"}, s.title)) for s in sections]
    return el("nav", {"aria-label": "Sections"}, el("ul", {}, *links))


def _section(section: Section) -> Html:
    title = el("h2", {"id": f"{section.key}-title"}, section.title)
    attributes = {"id": section.key, "aria-labelledby": f"{section.key}-title"}
    return el("section", attributes, title, join([section.body]))
