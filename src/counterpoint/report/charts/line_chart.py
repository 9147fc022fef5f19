"""Curves: over steps, epochs or severities, of one run or of several."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from counterpoint.report.charts.frame import Size, axes, line, svg_chart
from counterpoint.report.charts.scale import Scale, scale
from counterpoint.report.charts.shapes import COLOURS, DASHES, mark, shape_of
from counterpoint.report.markup import Attributes, Html, el
from counterpoint.report.words import four_digits

MAX_POINTS = 300  # points of a curve; more become means, and the page stays light
MARKED = 24  # points up to which each is marked
LETTER_GAP = 13.0  # pixels between the letters at the ends of curves


@dataclass(frozen=True, slots=True)
class Series:
    """One curve; `place` is its colour, dash and shape, `letter` stands at its end."""

    name: str
    points: tuple[tuple[float, float], ...]
    place: int = 0
    letter: str = ""


@dataclass(frozen=True, slots=True)
class Guide:
    """A level to compare with, such as chance."""

    name: str
    value: float


def lines(
    series: Sequence[Series],
    *,
    title: str,
    x_words: str,
    guides: Sequence[Guide] = (),
    zero: bool = False,
    small: bool = False,
) -> Html:
    """Draw curves over one horizontal axis."""
    size = Size(170, 122, left=36, right=8, bottom=34) if small else Size()
    thin = [Series(s.name, thinned(s.points), s.place, s.letter) for s in series if s.points]
    places = [x for s in thin for x, _ in s.points]
    levels = [y for s in thin for _, y in s.points]
    levels += [guide.value * (1.15 if small else 1.0) for guide in guides]  # room for its name
    room = 16 if any(s.letter for s in thin) else 0
    x = scale(places, size.left, size.width - size.right - room)
    x = Scale(min(places), max(places), x.start, x.end) if len(set(places)) > 1 else x
    y = scale(levels, size.height - size.bottom, size.top, zero=zero)
    whole = sorted(set(places)) if len(set(places)) <= 6 else x.ticks(3 if small else 5)
    drawn = [_curve(s, x, y) for s in thin]
    return svg_chart(
        size,
        title,
        "; ".join(describe(s) for s in series if s.points),
        axes(size, x, y, x_words=x_words, x_ticks=whole),
        *(_guide(guide, y, size) for guide in guides),
        *drawn,
        *_letters(thin, x, y),
        data=_data(thin, x, y, x_words, size),
    )


def describe(series: Series) -> str:
    """Say a curve in words: where it starts, where it ends.

    >>> describe(Series("loss", ((1, 5.5), (22, 5.25))))
    'loss: from 5.5 at 1 to 5.25 at 22'
    """
    (first, start), (last, end) = series.points[0], series.points[-1]
    name = f"{series.letter} {series.name}".strip()
    if len(series.points) == 1:
        return f"{name}: {four_digits(end)} at {first:g}"
    return f"{name}: from {four_digits(start)} at {first:g} to {four_digits(end)} at {last:g}"


def thinned(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """Average neighbouring points until no more than MAX_POINTS are left; the last x stays.

    >>> len(thinned(tuple((float(n), 1.0) for n in range(1000))))
    250
    """
    width = -(-len(points) // MAX_POINTS)
    groups = [points[n : n + width] for n in range(0, len(points), max(width, 1))]
    return tuple((group[-1][0], sum(y for _, y in group) / len(group)) for group in groups)


def _curve(series: Series, x: Scale, y: Scale) -> Html:
    at = [(x(one), y(other)) for one, other in series.points]
    dash = DASHES[series.place % len(DASHES)]
    path = "M" + "L".join(f"{one:g} {other:g}" for one, other in at)
    kind = f"series c{series.place % COLOURS}"
    marked = at if len(at) <= MARKED else []
    marks = "".join(mark(one, other, 2.6, shape_of(series.place)) for one, other in marked)
    return el(
        "g",
        {"class": kind},
        el("path", {"d": path, "class": "curve", "stroke-dasharray": dash}),
        el("path", {"d": marks, "class": "marks"}) if marks else None,
    )


def _guide(guide: Guide, y: Scale, size: Size) -> Html:
    level, right = y(guide.value), size.width - size.right
    above = level - 4 if level > size.top + 14 else level + 12
    words: Attributes = {"x": right, "y": above, "text-anchor": "end", "class": "guide-name"}
    return el("g", {}, line(size.left, level, right, level, "guide"), el("text", words, guide.name))


def _letters(series: Sequence[Series], x: Scale, y: Scale) -> list[Html]:
    """Put letters at the ends of the curves, moved down where they would meet."""
    drawn: list[Html] = []
    taken: list[tuple[float, float]] = []
    for one in sorted(series, key=lambda s: y(s.points[-1][1])):
        right, level = x(one.points[-1][0]) + 6, y(one.points[-1][1]) + 4
        while any(abs(right - a) < LETTER_GAP and abs(level - b) < LETTER_GAP for a, b in taken):
            level += 1
        taken.append((right, level))
        at: Attributes = {"x": right, "y": round(level, 1)}
        drawn.append(el("text", {**at, "class": f"letter c{one.place % COLOURS}"}, one.letter))
    return drawn


def _data(series: Sequence[Series], x: Scale, y: Scale, x_words: str, size: Size) -> str:
    """Return what the page's script needs to read values off the chart."""
    named = [{"n": f"{s.letter} {s.name}".strip(), "p": _rounded(s.points)} for s in series]
    ranges = {"x": [x.low, x.high, x.start, x.end], "y": [y.low, y.high, y.start, y.end]}
    content = {"w": x_words, "s": named, "top": size.top, "bottom": size.height - size.bottom}
    return json.dumps({**content, **ranges}, separators=(",", ":"))


def _rounded(points: tuple[tuple[float, float], ...]) -> list[list[float]]:
    return [[float(f"{x:.7g}"), float(f"{y:.5g}")] for x, y in points]
