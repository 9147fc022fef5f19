"""counterpoint table."""

import sys
from typing import Literal


def table_command(
    folder: str,
    *,
    figure: str = "linear",
    compare: Literal["column", "row"] = "column",
    format: Literal["markdown", "latex", "csv", "svg"] = "markdown",  # noqa: A002 (the word people know)
    cost: Literal["none", "flops", "seconds"] = "flops",
    out: str | None = None,
) -> None:
    """Make a table of a study's results: mean and spread over seeds, what differs, what it took.

    Args:
        folder: Folder of the results, here or anywhere fsspec reaches.
        figure: knn, linear or mlp, as far as the trials have it.
        compare: Whether the cells of a column or of a row are compared with each other.
        format: markdown, latex (booktabs), csv with all digits, or svg, a figure.
        cost: What stands in brackets behind each figure of a markdown or latex table.
        out: File to write; printed if not given.
    """
    from pathlib import Path

    from counterpoint.study import figure as drawing
    from counterpoint.study import writing
    from counterpoint.study.storing import Store
    from counterpoint.study.table import tabulate

    store = Store(folder)
    found = store.every()
    if not found:
        raise ValueError(f"study: {folder} holds no outcomes; counterpoint study --out writes them")
    table = tabulate(found, planned=store.planned(), figure=figure, compare=compare)
    text = {
        "markdown": lambda: writing.markdown(table, cost=cost),
        "latex": lambda: writing.latex(table, cost=cost),
        "csv": lambda: writing.as_csv(table),
        "svg": lambda: drawing.svg(table),
    }[format]()
    if out is None:
        sys.stdout.write(text)
    else:
        Path(out).write_text(text)
