"""Shares as bars, each with its number, and an interval where there is one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from counterpoint.report.charts.shapes import COLOURS
from counterpoint.report.markup import Html, el
from counterpoint.report.words import percent


@dataclass(frozen=True, slots=True)
class Bar:
    """One share from 0 to 1, its name, and its interval."""

    name: str
    share: float
    low: float | None = None
    high: float | None = None
    place: int = 0
    letter: str = ""


def bars(rows: Sequence[Bar], *, title: str, words: Sequence[str]) -> Html:
    """List bars as a table: the words of its two columns; bars of one name stand together."""
    head = el("tr", {}, *(el("th", {"scope": "col"}, word) for word in words))
    groups = [list(group) for _, group in groupby(rows, key=lambda bar: bar.name)]
    return el(
        "table",
        {"class": "bars"},
        el("caption", {"class": "unseen"}, title),
        el("thead", {"class": "unseen"}, head),
        el(
            "tbody",
            {},
            *(_row(bar, len(group), n) for group in groups for n, bar in enumerate(group)),
        ),
    )


def _row(bar: Bar, together: int, place: int) -> Html:
    """Draw one bar; the first of its name says the name for all."""
    letter = el("span", {"class": f"badge c{bar.place % COLOURS}"}, bar.letter)
    number = el("span", {"class": "number"}, percent(bar.share))
    name = el("th", {"scope": "rowgroup" if together > 1 else "row", "rowspan": together}, bar.name)
    cell = el("td", {}, letter if bar.letter else None, track(bar), number)
    return el("tr", {}, name if place == 0 else None, cell)


def track(bar: Bar) -> Html:
    """Draw one bar from 0 to 1, with a whisker over its interval."""
    fill = {"class": f"fill c{bar.place % COLOURS}", "style": f"width:{_at(bar.share)}"}
    whisker = None
    if bar.low is not None and bar.high is not None:
        width = f"left:{_at(bar.low)};width:{_at(bar.high - bar.low)}"
        whisker = el("span", {"class": "whisker", "style": width})
    return el("span", {"class": "track", "aria-hidden": "true"}, el("span", fill), whisker)


def _at(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.2f}%"
