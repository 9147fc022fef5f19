"""The five parts of a method, and where the parts of several differ."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from counterpoint.report.findings import Findings
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Material, Section, compare_table, scrolled
from counterpoint.report.sections.setup import settings
from counterpoint.report.words import joined

ALIKE = 0.6  # of their words in common; of others every word would be marked
SYMBOLS = {
    "views": "x \u2192 v",
    "encoder": "v \u2192 M",
    "extraction": "M \u2192 r",
    "similarity": "r \u2192 s",
    "loss": "s \u2192 L",
}


def parts_section(material: Material) -> Section | None:
    """Show the five parts of one run, or those in which several differ."""
    if not all(run.rows for run in material.runs):
        return None
    if not material.several:
        rows = material.runs[0].rows
        flow = [part_card(number, *row) for number, row in enumerate(rows, start=1)]
        return Section("parts", "Parts", el("ol", {"class": "flow"}, *flow))
    return Section("parts", "Parts", _differences(material))


def different_parts(runs: Sequence[Findings]) -> list[str]:
    """Name the parts in which runs differ, in the order of the framework."""
    names = [name for name, _ in runs[0].rows]
    return [n for n in names if len({dict(run.rows).get(n) for run in runs}) > 1]


def part_card(number: int, name: str, settings: Html | str, note: str | None = None) -> Html:
    """Show one part as a card: its number, its name, its settings, and what is to be said of it."""
    head = el("b", {}, el("span", {"class": "part-number"}, number), name)
    symbol = el("span", {"class": "symbol", "aria-hidden": "true"}, SYMBOLS.get(name, ""))
    said = None if note is None else el("p", {"class": "note"}, note)
    return el("li", {}, el("p", {}, head, symbol), el("p", {"class": "settings"}, settings), said)


def _differences(material: Material) -> Html:
    runs = material.runs
    names, changed = [name for name, _ in runs[0].rows], different_parts(runs)
    equal = [name for name in names if name not in changed]
    said = f"They differ in {joined(changed)}." if changed else "All five parts are the same."
    heads = [
        el("th", {"scope": "col"}, material.badge(place), run.name)
        for place, run in enumerate(runs)
    ]
    rows = [_row(names.index(name) + 1, name, runs) for name in changed]
    table = compare_table("part", heads, rows)
    folded = _folded(equal, runs[0], names)
    return join(
        [el("p", {}, said), scrolled("Parts that differ", table) if changed else None, folded]
    )


def _row(number: int, name: str, runs: Sequence[Findings]) -> Html:
    """Show one part of every run; what the first does not have is marked."""
    cells = [dict(run.rows)[name] for run in runs]
    shown = [el("td", {}, cells[0]), *(el("td", {}, marked(cells[0], c)) for c in cells[1:])]
    head = el("th", {"scope": "row"}, el("span", {"class": "part-number"}, number), name)
    return el("tr", {}, head, *shown)


def _folded(equal: list[str], run: Findings, names: list[str]) -> Html | None:
    if not equal:
        return None
    rows = dict(run.rows)
    shown = [part_card(names.index(name) + 1, name, rows[name]) for name in equal]
    summary = el("summary", {}, f"The same in all: {joined(equal)}")
    return el("details", {}, summary, el("ol", {"class": "flow"}, *shown))


def marked(before: str, after: str) -> Html:
    """Mark the words of a text that another does not have, if the two are much alike.

    >>> marked("NCE(tau=0.5)", "NCE(tau=0.2)")
    'NCE(tau=<mark>0.2</mark>)'
    """
    one, other = _words(before), _words(after)
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.ratio() < ALIKE:
        return join([after])
    pieces = []
    for tag, _, _, start, end in matcher.get_opcodes():
        piece = "".join(other[start:end])
        pieces.append(el("mark", {}, piece) if tag != "equal" and piece.strip() else piece)
    return join(pieces)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w.]+|\s+|[^\w\s]", text)


SECTIONS = (parts_section, settings)
