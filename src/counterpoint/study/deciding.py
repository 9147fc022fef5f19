"""How many points each part decides, where a study changes one part and holds the other four."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from counterpoint.study.table import Cell, Table
from counterpoint.study.trial import Trial


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
    """Compare the rows that change one part alone, in each column; what decides most is first.

    The most of some rows less the least of them grows with their number and their noise: a part
    with more rows has a little more to decide with.
    """
    changes = {(t.row, t.column): [part for part, _ in t.swaps] for t in trials}
    as_is = [place for place, parts in changes.items() if not parts]
    alone = [(place, parts[0]) for place, parts in changes.items() if len(parts) == 1]
    found = []
    for part, column in dict.fromkeys((part, place[1]) for place, part in alone):
        rows = [place for place in as_is if place[1] == column]
        rows += [place for place, changed in alone if (changed, place[1]) == (part, column)]
        ran = {place[0]: table.cells[place] for place in rows if place in table.cells}
        ranked = sorted(ran.items(), key=lambda named: named[1].mean)
        if len(ranked) > 1:
            found.append(Decided(part=part, column=column, worst=ranked[0], best=ranked[-1]))
    if not found:
        raise ValueError(
            "study: no two finished rows differ in one part alone; a trial changes one by its swaps"
        )
    return sorted(found, key=lambda one: -one.points)


def written(found: Iterable[Decided]) -> str:
    """Write them as a Markdown table."""
    lines = ["| part | of | worst | best | points |", "|---|---|---|---|---|"]
    for one in found:
        worst, best = (
            f"{100 * cell.mean:.1f}, {row.removeprefix(f'{one.part}: ')}"
            for row, cell in (one.worst, one.best)
        )
        spread = "" if one.spread is None else f" ± {one.spread:.1f}"
        points = f"{one.points:.1f}{spread}"
        lines.append(f"| {one.part} | {one.column} | {worst} | {best} | {points} |")
    return "\n".join(lines) + "\n"
