"""Points over two axes with numbers: some kinds of them, each with a colour and a shape."""

from collections.abc import Sequence

from counterpoint.report.charts.frame import Size, axes, svg_chart
from counterpoint.report.charts.line_chart import Series
from counterpoint.report.charts.scale import Scale, scale
from counterpoint.report.charts.shapes import COLOURS, mark, shape_of
from counterpoint.report.markup import Attributes, Html, el, join

RADIUS, LARGE = 3.0, 6.0


def point_chart(
    series: Sequence[Series],
    *,
    title: str,
    x_words: str,
    chosen: tuple[float, float] | None = None,
    chosen_words: str = "",
) -> Html:
    """Draw the points of each kind, and a ring with words around the chosen one."""
    size = Size()
    there = [one for one in series if one.points]
    across = [a for one in there for a, _ in one.points]
    x = scale(across, size.left, size.width - size.right)
    y = scale([b for one in there for _, b in one.points], size.height - size.bottom, size.top)
    drawn = [_group(one, x, y) for one in there]
    ring = None if chosen is None else _ring(x(chosen[0]), y(chosen[1]), chosen_words, size)
    counted = "; ".join(f"{one.name}: {len(one.points)} points" for one in there)
    ticks = x.ticks(5)
    if all(a == round(a) for a in across):  # a number of things: there is nothing in between
        ticks = [tick for tick in ticks if tick == round(tick)]
    grid = axes(size, x, y, x_words=x_words, x_ticks=ticks)
    return svg_chart(size, title, counted, grid, *drawn, *([ring] if ring else []))


def point_legend(series: Sequence[Series]) -> Html:
    """Say which mark is which kind."""
    items = [
        el("span", {"class": "keyed"}, _sample(one.place), f" {one.name} ({len(one.points)})")
        for one in series
        if one.points
    ]
    return el("p", {"class": "marks-legend"}, join(items))


def _group(series: Series, x: Scale, y: Scale) -> Html:
    path = "".join(mark(x(a), y(b), RADIUS, shape_of(series.place)) for a, b in series.points)
    return el("path", {"d": path, "class": f"dots c{series.place % COLOURS}"})


def _ring(x: float, y: float, words: str, size: Size) -> Html:
    end = x > size.width / 2
    at: Attributes = {
        "x": x - 10 if end else x + 10,
        "y": y + 4,
        "text-anchor": "end" if end else "start",
        "class": "ring-name",
    }
    circle: Attributes = {"cx": x, "cy": y, "r": LARGE, "class": "ring"}
    return el("g", {}, el("circle", circle), el("text", at, words))


def _sample(place: int) -> Html:
    attributes: Attributes = {"viewBox": "0 0 12 12", "width": 12, "height": 12}
    path = {"d": mark(6, 6, 4, shape_of(place)), "class": f"dots c{place % COLOURS}"}
    return el("svg", {**attributes, "aria-hidden": "true"}, el("path", path))
