"""A plan as a table."""

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from counterpoint.report.words import duration, four_digits
from counterpoint.study.trial_plan import Planned


def plan_table(planned: Sequence[Planned], *, speed: float, price: float | None) -> Table:
    """Show a line for each cell, all its seeds together, and the sum."""
    if not planned:
        raise ValueError("study: a plan of no trials; needs at least one: give a list of Trial")
    words = f"{len(planned)} trials at {speed / 1e12:.3g} x 10^12 operations a second"
    shown = Table(
        "row",
        "column",
        "seeds",
        "steps",
        "10^15 operations",
        "time",
        "GB",
        title=words,
        title_justify="left",
    )
    if price is not None:
        shown.add_column("price")
    # A study may list all cells for each seed: the seeds of one cell are then apart.
    cells: dict[tuple[str, str], list[Planned]] = {}
    for one in planned:
        cells.setdefault((one.trial.row, one.trial.column), []).append(one)
    for (row, column), cell in cells.items():
        steps = four_digits(cell[0].steps)
        named = (escape(row), escape(column))
        shown.add_row(*named, str(len(cell)), steps, *_sums(cell, price))
    shown.add_section()
    shown.add_row("all", "", str(len(planned)), "", *_sums(planned, price))
    return shown


def _sums(planned: Sequence[Planned], price: float | None) -> list[str]:
    seconds = sum(p.seconds for p in planned)
    memory = max(p.gigabytes for p in planned)
    found = [four_digits(sum(p.flops for p in planned) / 1e15), duration(seconds), f"{memory:.1f}"]
    return found if price is None else [*found, four_digits(seconds / 3600 * price)]
