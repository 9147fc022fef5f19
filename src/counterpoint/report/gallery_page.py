"""A page of pictures: a title, some figures, and sections; as the report it needs no network."""

from collections.abc import Sequence
from dataclasses import dataclass

from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section
from counterpoint.report.page import STAFF, page_frame


@dataclass(frozen=True, slots=True)
class PageTop:
    """What stands above the pictures."""

    word: str
    """The command that made the page."""
    title: str
    lead: str
    about: str
    tiles: Sequence[tuple[str, str, str]]
    """Figures: a value, what it is, and more about it."""


def gallery_page(top: PageTop, sections: Sequence[Section]) -> str:
    """Return a whole page."""
    header = el(
        "header",
        {},
        Html(STAFF),
        el("p", {"class": "brand"}, "counterpoint ", el("span", {}, top.word)),
        el("h1", {}, top.title),
        el("p", {"class": "lead"}, top.lead),
        el("p", {"class": "about"}, top.about),
        el("dl", {"class": "tiles"}, *(_tile(*tile) for tile in top.tiles)),
    )
    return page_frame(f"{top.title} · counterpoint", header, sections)


def picture_figure(uri: str | None, *, kind: str, alt: str, words: Sequence[Html | str]) -> Html:
    """Show a thumbnail with words under it; a grey field where the picture is not there."""
    shown = (
        el("div", {"class": "absent"}, "no picture")
        if uri is None
        else el("img", {"src": uri, "alt": alt})
    )
    return el("figure", {"class": f"thumb {kind}"}, shown, el("figcaption", {}, join(words)))


def copied_lines(lines: Sequence[str], what: str) -> Html:
    """Show lines behind a fold, with a button that copies them."""
    button = el("button", {"class": "copy", "type": "button", "hidden": ""}, "Copy")
    listed = el("div", {"class": "commands"}, el("pre", {}, "\n".join(lines)), button)
    return el("details", {}, el("summary", {}, what), listed)


def _tile(value: str, name: str, more: str) -> Html:
    small = el("dd", {"class": "more"}, more) if more else None
    return el("div", {}, el("dt", {}, name), el("dd", {"class": "value"}, value), small)
