"""counterpoint table."""

import sys
from functools import partial
from pathlib import Path
from typing import Literal

from counterpoint.cli.last_words import last_words


def table_command(
    folder: str,
    *,
    figure: str = "linear",
    compare: Literal["column", "row"] = "column",
    format: Literal["markdown", "latex", "csv", "svg", "json", "points", "criteria"] = "markdown",  # noqa: A002 (the word people know)
    cost: Literal["none", "flops", "seconds"] = "flops",
    out: str | None = None,
) -> None:
    """Print the table of a study: mean and spread over seeds, significance, cost.

    Example:
        counterpoint table runs/table1-small --format markdown

    Args:
        folder: Folder of the results, or a file written by --format json; local or any that
            fsspec reaches.
        figure: Figure to show, if the trials have it: a probe (knn, linear, mlp), "linear
            validation", a criterion such as rankme, or lr.
        compare: Compare the cells of a column, or of a row, with each other.
        format: markdown; latex, with booktabs; csv, with all digits; svg, a figure; json, all
            results in one file; points, the effect of each part where only it was changed;
            criteria, how far criteria without labels agree with labelled probes.
        cost: What to print in parentheses after each value of a markdown or latex table.
        out: File to write (default: print).
    """
    if "://" not in folder and not Path(folder).exists():
        raise FileNotFoundError(f"study: there is no folder {folder}")
    from counterpoint.design.calibration_table import calibration_table
    from counterpoint.design.criteria_calibration import calibration
    from counterpoint.study.bundle import bundled, read_study
    from counterpoint.study.tables import figure as drawing
    from counterpoint.study.tables import formats as writing
    from counterpoint.study.tables.outcome_table import tabulate
    from counterpoint.study.tables.part_effects import decided, written

    outcomes, planned = read_study(folder)
    trials = [trial for _, trial in planned] or [outcome.trial for outcome in outcomes]
    if not outcomes:
        raise ValueError(f"study: {folder} holds no outcomes; counterpoint study --out writes them")
    tabulated = partial(tabulate, outcomes, planned=planned, figure=figure, compare=compare)
    text = {
        "markdown": lambda: writing.markdown(tabulated(), cost=cost),
        "latex": lambda: writing.latex(tabulated(), cost=cost),
        "csv": lambda: writing.as_csv(tabulated()),
        "svg": lambda: drawing.table_figure(tabulated()),
        "json": lambda: bundled((outcomes, planned)),
        "points": lambda: written(decided(tabulated(), trials)),
        "criteria": lambda: calibration_table(calibration(outcomes)),
    }[format]()
    if out is None:
        sys.stdout.write(text)
    else:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        Path(out).write_text(text)
        last_words(f"{format} of {len(outcomes):,} trials: {out}", aside=True)
