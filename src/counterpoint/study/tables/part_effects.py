"""How many points each part decides, where a study changes one part and holds the other four."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import permutations

from counterpoint.study.tables.formats import one_cell
from counterpoint.study.tables.outcome_table import Cell, Table
from counterpoint.study.trial import Trial

AS_IT_IS = ""  # the part that a trial without swaps changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The worst and the best of what one part was, the method as it is included.

    They are compared by the seeds that both have: a seed that only one has may be a lucky one.
    """

    part: str
    column: str
    worst: tuple[str, Cell]
    best: tuple[str, Cell]

    @property
    def common(self) -> tuple[tuple[float, float], ...]:
        """The values of the worst and the best for each seed that both have."""
        by_seed = [dict(zip(c.seeds, c.values, strict=True)) for _, c in (self.worst, self.best)]
        less, more = by_seed
        return tuple((less[seed], more[seed]) for seed in less if seed in more)

    @property
    def missing(self) -> int:
        """How many seeds only one of the two has."""
        return len({*self.worst[1].seeds} ^ {*self.best[1].seeds})

    @property
    def points(self) -> float:
        """From the worst mean to the best, in percent."""
        return 100 * statistics.fmean(more - less for less, more in self.common)

    @property
    def spread(self) -> float | None:
        """Standard deviation of the points over seeds; None for one."""
        if len(self.common) == 1:
            return None
        return statistics.stdev(100 * (more - less) for less, more in self.common)


def decided(table: Table, trials: Iterable[Trial]) -> list[Decided]:
    """Compare trials that differ in one part alone; what decides most is first.

    The most of some rows less the least of them grows with their number and their noise: a part
    with more rows has a little more to decide with. Rows that share no seed are not compared.
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
            both = [
                Decided(part=part, column=held.column, worst=worst, best=best)
                for worst, best in permutations(cells, 2)
            ]
            if compared := [one for one in both if one.common]:
                found.append(max(compared, key=lambda one: one.points))
    if not found:
        raise ValueError(
            "study: no two finished rows with a common seed differ in one part alone; a trial "
            "changes one by its swaps"
        )
    return sorted(found, key=lambda one: -one.points)


def _held(trial: Trial) -> Trial:
    """Return what trials have in common that differ in their parts and seeds only."""
    return replace(trial, swaps=(), seed=0, name="", row="")


def written(found: Iterable[Decided]) -> str:
    """Write them as a Markdown table."""
    lines = ["| part | of | worst | best | points |", "|---|---|---|---|---|"]
    for one in found:
        means = map(statistics.fmean, zip(*one.common, strict=True))
        worst, best = (
            f"{100 * mean:.1f}, {one_cell(row.removeprefix(f'{one.part}: '))}"
            for (row, _), mean in zip((one.worst, one.best), means, strict=True)
        )
        spread = "" if one.spread is None else f" ± {one.spread:.1f}"
        few = f" ({len(one.common)} of {len(one.common) + one.missing} seeds)" * bool(one.missing)
        points = f"{one.points:.1f}{spread}{few}"
        lines.append(f"| {one.part} | {one_cell(one.column)} | {worst} | {best} | {points} |")
    return "\n".join(lines) + "\n"
