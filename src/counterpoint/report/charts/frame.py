"""What every chart with two axes has: its frame, its grid and its words for those who listen."""

from collections.abc import Sequence
from dataclasses import dataclass

from counterpoint.report.charts.scale import Scale, tick_words
from counterpoint.report.markup import Attributes, Html, el, join


@dataclass(frozen=True, slots=True)
class Size:
    """The sheet of a chart in its own units, which are CSS pixels on a phone."""

    width: float = 360
    height: float = 220
    left: float = 46
    right: float = 14
    top: float = 10
    bottom: float = 36


def svg_chart(
    size: Size, title: str, describe: str, *inside: Html, data: str | None = None
) -> Html:
    """Wrap a chart; the title and the description are what a screen reader says."""
    attributes: Attributes = {
        "viewBox": f"0 0 {size.width:g} {size.height:g}",
        "role": "img",
        "class": "chart",
        "aria-label": f"{title}. {describe}",
        "data-lines": data,
        "tabindex": None if data is None else 0,
    }
    return el("svg", attributes, el("title", {}, f"{title}. {describe}"), *inside)


def axes(size: Size, x: Scale, y: Scale, *, x_words: str, x_ticks: Sequence[float]) -> Html:
    """Draw the grid, the numbers and the name of the horizontal axis."""
    bottom, right = size.height - size.bottom, size.width - size.right
    across = [_level(value, y(value), size.left, right) for value in y.ticks(4)]
    along = [
        el("text", {"x": x(v), "y": bottom + 15, "text-anchor": "middle"}, tick_words(v))
        for v in x_ticks
    ]
    base = line(size.left, bottom, right, bottom, "axis")
    middle = (size.left + right) / 2
    words: Attributes = {
        "x": middle,
        "y": size.height - 5,
        "text-anchor": "middle",
        "class": "axis-name",
    }
    return join([*across, *along, base, el("text", words, x_words)])


def _level(value: float, place: float, left: float, right: float) -> Html:
    words: Attributes = {"x": left - 6, "y": round(place + 4, 1), "text-anchor": "end"}
    return join([line(left, place, right, place, "grid"), el("text", words, tick_words(value))])


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Html:
    """Draw a straight line of a kind that the style knows."""
    return el("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": kind})


def captioned(caption: str, note: str | None, *inside: Html, kind: str = "") -> Html:
    """Put a chart under its caption, with a line on what it means."""
    return el(
        "figure",
        {"class": f"plot {kind}".strip()},
        el("figcaption", {}, el("b", {}, caption), None if note is None else el("p", {}, note)),
        *inside,
    )
