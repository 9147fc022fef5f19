"""A matrix of shares as a table whose cells are shaded, so that it can be read aloud too."""

import math
from collections.abc import Sequence

from counterpoint.report.markup import Attributes, Html, el


def heatmap(
    rows: Sequence[Sequence[float]], names: Sequence[str], *, title: str, corner: str
) -> Html:
    """Shade each cell by its share of the row; its number is percent, 0 is left blank."""
    head = el(
        "tr",
        {},
        el("th", {"scope": "col", "class": "corner"}, corner),
        *(el("th", {"scope": "col", "class": "turned"}, el("span", {}, n)) for n in names),
    )
    return el(
        "table",
        {"class": "heat"},
        el("caption", {"class": "unseen"}, title),
        el("thead", {}, head),
        el("tbody", {}, *(_row(name, row, n) for n, (name, row) in enumerate(_rows(names, rows)))),
    )


def _rows(
    names: Sequence[str], rows: Sequence[Sequence[float]]
) -> list[tuple[str, Sequence[float]]]:
    return list(zip(names, rows, strict=True))


def _row(name: str, counts: Sequence[float], own: int) -> Html:
    total = sum(counts) or 1.0
    cells = [_cell(count / total, right=n == own) for n, count in enumerate(counts)]
    return el("tr", {}, el("th", {"scope": "row"}, name), *cells)


def _cell(share: float, *, right: bool) -> Html:
    shown = f"{100 * share:.0f}"
    # The root makes mistakes of a few percent visible.
    attributes: Attributes = {
        "style": f"--v:{math.sqrt(share):.3f}",
        "class": "right" if right else None,
    }
    return el("td", attributes, shown if shown != "0" else "")
