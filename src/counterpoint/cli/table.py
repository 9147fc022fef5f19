"""counterpoint table."""

import sys
from typing import Literal


def table_command(
    folder: str,
    *,
    figure: str = "linear",
    compare: Literal["column", "row"] = "column",
    format: Literal["markdown", "latex", "csv", "svg", "json", "points"] = "markdown",  # noqa: A002 (the word people know)
    cost: Literal["none", "flops", "seconds"] = "flops",
    out: str | None = None,
) -> None:
    """Make a table of a study's results: mean and spread over seeds, what differs, what it took.

    Args:
        folder: Folder of the results, or a file that --format json made of one, here or anywhere
            fsspec reaches.
        figure: knn, linear or mlp, as far as the trials have it.
        compare: Whether the cells of a column or of a row are compared with each other.
        format: markdown, latex (booktabs), csv with all digits, svg, a figure, json, all results
            in one file, or points, how many each part decides where it alone was changed.
        cost: What stands in brackets behind each figure of a markdown or latex table.
        out: File to write; printed if not given.
    """
    from pathlib import Path

    from counterpoint.study.bundle import bundled, read_study
    from counterpoint.study.tables import figure as drawing
    from counterpoint.study.tables import formats as writing
    from counterpoint.study.tables.outcome_table import tabulate
    from counterpoint.study.tables.part_effects import decided, written

    outcomes, planned = read_study(folder)
    trials = [trial for _, trial in planned] or [outcome.trial for outcome in outcomes]
    if not outcomes:
        raise ValueError(f"study: {folder} holds no outcomes; counterpoint study --out writes them")
    table = tabulate(outcomes, planned=planned, figure=figure, compare=compare)
    text = {
        "markdown": lambda: writing.markdown(table, cost=cost),
        "latex": lambda: writing.latex(table, cost=cost),
        "csv": lambda: writing.as_csv(table),
        "svg": lambda: drawing.table_figure(table),
        "json": lambda: bundled((outcomes, planned)),
        "points": lambda: written(decided(table, trials)),
    }[format]()
    if out is None:
        sys.stdout.write(text)
    else:
        Path(out).write_text(text)
