"""How many points each part decides, where a study changes one part and holds the other four."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace

from counterpoint.study.tables.formats import one_cell
from counterpoint.study.tables.outcome_table import Cell, Table
from counterpoint.study.trial import Trial

AS_IT_IS = ""  # the part that a trial without swaps changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The worst and the best of what one part was, the method as it is included."""

    part: str
    column: str
    worst: tuple[str, Cell]
    best: tuple[str, Cell]

    @property
    def points(self) -> float:
        """From the worst mean to the best, in percent."""
        return 100 * (self.best[1].mean - self.worst[1].mean)

    @property
    def spread(self) -> float | None:
        """Standard deviation of the points over seeds; None for one, or where seeds are missing."""
        more, less = self.best[1].values, self.worst[1].values
        if len(more) != len(less) or len(more) == 1:
            return None
        return statistics.stdev(100 * (a - b) for a, b in zip(more, less, strict=True))


def decided(table: Table, trials: Iterable[Trial]) -> list[Decided]:
    """Compare trials that differ in one part alone; what decides most is first.

    The most of some rows less the least of them grows with their number and their noise: a part
    with more rows has a little more to decide with.
    """
    if not table.kind.percent:
        raise ValueError(
            f"study: points are of an accuracy, got the figure {table.figure!r}; "
            "give a probe's, such as --figure linear or --figure 'linear validation'"
        )
    rows: dict[Trial, dict[str, list[str]]] = {}  # what is held: part, and rows that change it
    for trial in trials:
        parts = [part for part, _ in trial.swaps] or [AS_IT_IS]
        if len(parts) == 1:
            rows.setdefault(_held(trial), {}).setdefault(parts[0], []).append(trial.row)
    found = []
    for held, changed in rows.items():
        as_it_is = changed.pop(AS_IT_IS, [])
        for part, names in changed.items():
            ran = {row: table.cell(row, held.column) for row in (*as_it_is, *names)}
            cells = [(row, cell) for row, cell in ran.items() if cell is not None]
            ranked = sorted(cells, key=lambda named: named[1].mean)
            if len(ranked) > 1:
                worst, *_, best = ranked
                found.append(Decided(part=part, column=held.column, worst=worst, best=best))
    if not found:
        raise ValueError(
            "study: no two finished rows differ in one part alone; a trial changes one by its swaps"
        )
    return sorted(found, key=lambda one: -one.points)


def _held(trial: Trial) -> Trial:
    """Return what trials have in common that differ in their parts and seeds only."""
    return replace(trial, swaps=(), seed=0, name="", row="")


def written(found: Iterable[Decided]) -> str:
    """Write them as a Markdown table."""
    lines = ["| part | of | worst | best | points |", "|---|---|---|---|---|"]
    for one in found:
        worst, best = (
            f"{100 * cell.mean:.1f}, {one_cell(row.removeprefix(f'{one.part}: '))}"
            for row, cell in (one.worst, one.best)
        )
        spread = "" if one.spread is None else f" ± {one.spread:.1f}"
        points = f"{one.points:.1f}{spread}"
        lines.append(f"| {one.part} | {one_cell(one.column)} | {worst} | {best} | {points} |")
    return "\n".join(lines) + "\n"
