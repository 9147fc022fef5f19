"""A table as a picture: a dot for each mean, a whisker for its spread."""

from math import isfinite

from counterpoint.report.charts.scale import Scale, scale, tick_words
from counterpoint.report.markup import Attributes, Html, el
from counterpoint.study.tables.figure_kind import FigureKind
from counterpoint.study.tables.outcome_table import LEVEL, Cell, Table

COLOURS = ("#0b5394", "#b45f06", "#38761d", "#741b47", "#666666", "#990000", "#134f5c", "#7f6000")
PAPER, INK = "#ffffff", "#1f2328"  # both given: a dark page shows through a picture without them
PLOT, TOP, LINE, GAP, BELOW = 278.0, 12.0, 17.0, 9.0, 62.0
ROWS, MOST = 200.0, 48  # at the left, for the name of a row; the letters of one that is not cut
NAMES = 162.0  # at the right, for the figure and the name of a column
FIGURE, LETTER = 46.0, 7.0  # of those, for a figure of five letters, and for each one more


def table_figure(table: Table) -> str:
    """Draw rows below each other, and in each a line for every column that was run.

    A line ends with its figure, and with the column's name where there are several.
    """
    height = TOP + BELOW + sum(_lines(table, row) * LINE + GAP for row in table.rows)
    levels = [level for cell in table.cells.values() for level in _ends(cell, table.kind)]
    left = _left(table)
    x = scale(levels, left, left + PLOT)
    width = left + PLOT + NAMES
    y, drawn = TOP, []
    for row in table.rows:
        drawn.append(_row(table, row, y, x))
        y += _lines(table, row) * LINE + GAP
    attributes: Attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {width:g} {height:g}",
        "role": "img",
        "font-family": "sans-serif",
        "font-size": 12,
        "fill": INK,
    }
    words = table.kind.words + ", percent" * table.kind.percent
    paper = el("rect", {"width": width, "height": height, "fill": PAPER})
    inside = (el("title", {}, words), paper, _axis(x, y, words), _legend(table, y), *drawn)
    return el("svg", attributes, *inside) + "\n"


def _legend(table: Table, bottom: float) -> Html:
    """Say what a filled dot and a star are, where there can be any."""
    marks = f"filled: the best of its {table.compare}; *: behind it, p < {LEVEL:g}; "
    words = marks * table.kind.ranked + "line: spread"
    return _text(8, bottom + 51, words)


def _row(table: Table, row: str, top: float, x: Scale) -> Html:
    drawn: list[Html] = [_text(8, top + LINE - 5, _cut(row), weight="bold")]
    line, names = 0, x.end + _room(table)
    for place, column in enumerate(table.columns):
        cell = table.cell(row, column)
        if cell is None:
            continue
        middle = top + LINE * (line + 0.5)
        if _ends(cell, table.kind):
            drawn.extend(_mark(cell, x, middle, COLOURS[place % len(COLOURS)], table.kind))
        words = _words(cell, table.kind)
        drawn.append(_text(x.end + 8, middle + 4, words))
        if len(table.columns) > 1:
            drawn.append(_text(names, middle + 4, column))
        line += 1
    return el("g", {}, *drawn)


def _mark(cell: Cell, x: Scale, y: float, colour: str, kind: FigureKind) -> list[Html]:
    low, high = _ends(cell, kind)
    whisker: Attributes = {"x1": x(low), "x2": x(high), "y1": y, "y2": y, "stroke": colour}
    dot: Attributes = {
        "cx": x(kind.shown(cell.mean)),
        "cy": y,
        "r": 4,
        "stroke": colour,
        "fill": colour if cell.best else PAPER,
    }
    return [
        el("line", {**whisker, "stroke-width": 2}),
        el("circle", dot, el("title", {}, kind.number(cell.mean))),
    ]


def _axis(x: Scale, bottom: float, words: str) -> Html:
    ticks = []
    for value in x.ticks(6):
        line: Attributes = {"x1": x(value), "x2": x(value), "y1": TOP, "y2": bottom}
        ticks.append(el("line", {**line, "stroke": "#dddddd"}))
        ticks.append(_text(x(value), bottom + 15, tick_words(value), anchor="middle"))
    middle = (x.start + x.end) / 2
    return el("g", {}, *ticks, _text(middle, bottom + 33, words, anchor="middle"))


def _text(x: float, y: float, words: str, *, anchor: str = "start", weight: str = "normal") -> Html:
    at: Attributes = {"x": x, "y": round(y, 1), "text-anchor": anchor, "font-weight": weight}
    return el("text", at, words)


def _ends(cell: Cell, kind: FigureKind) -> tuple[float, ...]:
    """Return where a cell's line begins and ends; what is not a number has no place."""
    spread = cell.spread or 0.0
    if not isfinite(cell.mean):
        return ()
    return kind.shown(cell.mean - spread), kind.shown(cell.mean + spread)


def _words(cell: Cell, kind: FigureKind) -> str:
    return kind.number(cell.mean) + "*" * cell.behind


def _left(table: Table) -> float:
    """Return where the plot begins: behind the longest name of a row."""
    longest = max((len(_cut(row)) for row in table.rows), default=0)
    return max(ROWS, 16 + LETTER * longest)


def _cut(row: str) -> str:
    return row if len(row) <= MOST else f"{row[: MOST - 1]}…"


def _room(table: Table) -> float:
    """Return how far the name of a column is from where its figure begins."""
    longest = max((len(_words(cell, table.kind)) for cell in table.cells.values()), default=0)
    return FIGURE + LETTER * max(0, longest - 5)


def _lines(table: Table, row: str) -> int:
    return max(1, sum(table.cell(row, column) is not None for column in table.columns))
