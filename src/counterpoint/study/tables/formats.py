"""Tables as Markdown, LaTeX and CSV."""

import csv
import io
from math import isfinite
from typing import Literal

from counterpoint.study.tables.figure_kind import FigureKind
from counterpoint.study.tables.outcome_table import Cell, Table

Costs = Literal["none", "flops", "seconds"]
LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}
"""What LaTeX reads, and how it is written as a sign."""
HEAD = ("row", "column", "seeds", "mean", "spread", "p", "best", "images", "flops")


def markdown(table: Table, *, cost: Costs = "flops") -> str:
    """Write mean and spread; bold is best, a star is behind it by more than chance."""
    columns = " | ".join(map(one_cell, table.columns))
    head = f"| | {columns} |\n|---|{'---|' * len(table.columns)}\n"
    rows = []
    for row in table.rows:
        cells = [_markdown(table.cell(row, column), cost, table.kind) for column in table.columns]
        rows.append(f"| {one_cell(row)} | {' | '.join(cells)} |")
    return head + "\n".join(rows) + f"\n\n{note(table, cost)}\n"


def latex(table: Table, *, cost: Costs = "none") -> str:
    """Write a tabular for the booktabs package."""
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
        " & ".join(["", *map(_escaped, table.columns)]) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        cells = [_latex(table.cell(row, column), cost, table.kind) for column in table.columns]
        lines.append(" & ".join([_escaped(row), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def as_csv(table: Table) -> str:
    """Write one line for each cell that was run, with all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for (row, column), cell in sorted(table.cells.items(), key=lambda item: _place(table, item[0])):
        values = (len(cell.values), cell.mean, cell.spread, cell.p, int(cell.best))
        writer.writerow((row, column, *values, cell.images, cell.flops))
    return text.getvalue()


def note(table: Table, cost: Costs) -> str:
    """Say how the table is to be read."""
    counts = sorted({len(cell.values) for cell in table.cells.values()})
    repeated = " or ".join(map(str, counts)) or "no"
    unit = " in percent" * table.kind.percent
    words = [
        f"{table.kind.words}{unit}, mean ± standard deviation over "
        f"{repeated} seed{'s' * (counts != [1])}."
    ]
    if table.kind.ranked:
        words.append(f"Bold: the best of its {table.compare}.")
        words.append("*: behind the best, p < 0.05 by a t-test.")
    if table.kind.ranked and table.taught and len(table.taught) < len(table.cells):
        words.append("Supervised: trained with labels, and not compared as the best.")
    if not all(isfinite(cell.mean) for cell in table.cells.values()):
        words.append("nan: a seed has no figure; --figure collapsed says whether it collapsed.")
    if cost == "flops":
        words.append("In brackets: floating-point operations of training, all seeds, in 10^12.")
    if cost == "seconds":
        words.append("In brackets: minutes, all seeds, as measured where it ran.")
    if table.failed:
        one = table.failed == 1
        many = "1 trial failed and is" if one else f"{table.failed} trials failed and are"
        words.append(f"{many} left out.")
    return " ".join(words)


def cell_cost(cell: Cell, cost: Costs) -> str:
    """Write what a cell took.

    >>> cell_cost(Cell(values=(0.5,), seeds=(0,), flops=2.5e12, images=9, seconds=90.0), "flops")
    '2.5'
    """
    if cost == "none":
        return ""
    if cost == "seconds":
        return f"{cell.seconds / 60:.1f}"
    figure = cell.flops / 1e12
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def _markdown(cell: Cell | None, cost: Costs, kind: FigureKind) -> str:
    if cell is None:
        return ""
    spread = _spread(cell, "±", kind)
    mean = f"**{kind.number(cell.mean)}**" if cell.best else kind.number(cell.mean)
    took = f" [{cell_cost(cell, cost)}]" if cost != "none" else ""
    return f"{mean}{spread}{'*' * cell.behind}{took}"


def _latex(cell: Cell | None, cost: Costs, kind: FigureKind) -> str:
    if cell is None:
        return ""
    spread = _spread(cell, r"$\pm$", kind)
    mean = kind.number(cell.mean)
    mean = rf"\textbf{{{mean}}}" if cell.best else mean
    took = f" [{cell_cost(cell, cost)}]" if cost != "none" else ""
    return f"{mean}{spread}{'$^*$' * cell.behind}{took}"


def _spread(cell: Cell, sign: str, kind: FigureKind) -> str:
    """Write the spread of a cell; nothing where a mean that is nan has said enough."""
    if cell.spread is None or not isfinite(cell.spread):
        return ""
    return f" {sign} {kind.number(cell.spread)}"


def _escaped(text: str) -> str:
    r"""Keep LaTeX from reading names.

    >>> _escaped("resnext50_32x4d & 5 %")
    'resnext50\\_32x4d \\& 5 \\%'
    """
    return "".join(LATEX.get(sign, sign) for sign in " ".join(text.split()))


def one_cell(text: str) -> str:
    r"""Keep a name from ending its cell or its line in Markdown.

    >>> one_cell("views | encoder")
    'views \\| encoder'
    """
    return " ".join(text.split()).replace("|", r"\|")


def _place(table: Table, at: tuple[str, str]) -> tuple[int, int]:
    return table.rows.index(at[0]), table.columns.index(at[1])
