"""Outcomes as a table: rows, columns, mean and spread over seeds, what differs, what it took."""

import shlex
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Literal

import torch

from counterpoint.evaluation.scores import from_bitmap
from counterpoint.study.outcome import Outcome
from counterpoint.study.tables.figure_kind import VALIDATION, FigureKind, figure_kind
from counterpoint.study.tables.repeats import require_repeats
from counterpoint.study.tables.significance import over_seeds, paired
from counterpoint.study.trial import Trial

LEVEL = 0.05
Compare = Literal["column", "row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One method in one place, over its seeds."""

    values: tuple[float, ...]
    """One for each seed, in the order of the seeds."""
    seeds: tuple[int, ...]
    """The seed of each value: one that failed is missing."""
    flops: float
    """Of training all seeds, the choice of a rate included."""
    images: int
    seconds: float
    p: float | None = None
    """Against the best cell it is compared with: the chance of such a difference by luck alone."""
    best: bool = False

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    @property
    def spread(self) -> float | None:
        """Standard deviation over the seeds; None for one, nan where a seed has no figure."""
        if len(self.values) == 1:
            return None
        return statistics.stdev(self.values) if all(map(isfinite, self.values)) else nan

    @property
    def behind(self) -> bool:
        """Whether the best is better by more than chance."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells by row and column; what was not run, or failed, has none."""

    figure: str
    compare: Compare
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]
    taught: frozenset[tuple[str, str]] = frozenset()
    """Places of encoders that were trained with labels."""
    failed: int = 0

    @property
    def kind(self) -> FigureKind:
        return figure_kind(self.figure)

    def cell(self, row: str, column: str) -> Cell | None:
        return self.cells.get((row, column))


def outcomes_in_order(
    outcomes: Iterable[Outcome], planned: Sequence[tuple[str, Trial]]
) -> list[Outcome]:
    """Put outcomes where a study wants them: by fingerprint, one perhaps in several places."""
    found = {outcome.fingerprint: outcome for outcome in outcomes}
    places = {(f, trial.row, trial.column): trial for f, trial in reversed(planned)}  # each once
    return [replace(found[f], trial=t) for (f, *_), t in reversed(places.items()) if f in found]


def require_figure(trials: Iterable[Trial], figure: str) -> None:
    """Refuse a figure that a study will not have, before its first trial has run."""
    for trial in trials:
        validated = tuple(f"{probe}{VALIDATION}" for probe in trial.probes)
        measured = (*(validated if trial.untested else trial.probes), *trial.criteria)
        beside = ("collapsed", "lr") if trial.criteria else ("lr",)
        if figure not in (*measured, *validated, *beside):
            raise ValueError(
                f"study: {trial.key} will have no figure {figure!r}; it has "
                f"{', '.join(measured)}: --figure {shlex.quote((*measured, 'lr')[0])}"
            )


def tabulate(
    outcomes: Iterable[Outcome],
    *,
    planned: Sequence[tuple[str, Trial]] = (),
    figure: str = "linear",
    compare: Compare = "column",
) -> Table:
    """Make the table of one figure; cells of a column (or row) are compared with its best.

    Two cells on the same test images are compared image by image, others by their seeds.
    `planned` are a study's trials by fingerprint: they give the order of rows and columns, and
    those that were not run leave their cells empty.
    """
    every = outcomes_in_order(outcomes, planned) if planned else list(outcomes)
    done = [o for o in every if o.state == "done"]
    require_repeats(outcome.trial for outcome in done)
    missing = [o for o in done if figure not in o.figures]
    if missing:
        there = ", ".join(k for k in missing[0].figures)
        raise ValueError(f"study: no figure {figure!r} in {missing[0].trial.key}; it has {there}")
    trials = [trial for _, trial in planned] or [outcome.trial for outcome in every]
    grouped: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in sorted(done, key=lambda o: (o.trial.seed, o.fingerprint)):
        grouped.setdefault((outcome.trial.row, outcome.trial.column), []).append(outcome)
    cells = {place: _cell(found, figure) for place, found in grouped.items()}
    taught = frozenset(p for p, found in grouped.items() if found[0].trial.kind == "supervised")
    return Table(
        figure=figure,
        compare=compare,
        rows=_once(trial.row for trial in trials),
        columns=_once(trial.column for trial in trials),
        cells=_compared(cells, grouped, figure, compare, taught),
        taught=taught,
        failed=len(every) - len(done),
    )


def _cell(outcomes: Sequence[Outcome], figure: str) -> Cell:
    return Cell(
        values=tuple(o.figures[figure] for o in outcomes),
        seeds=tuple(o.trial.seed for o in outcomes),
        flops=sum(o.cost.flops for o in outcomes),
        images=sum(o.cost.images for o in outcomes),
        seconds=sum(o.cost.seconds for o in outcomes),
    )


def _compared(
    cells: dict[tuple[str, str], Cell],
    grouped: dict[tuple[str, str], list[Outcome]],
    figure: str,
    compare: Compare,
    taught: frozenset[tuple[str, str]],
) -> dict[tuple[str, str], Cell]:
    """Find the best of every group, and how surely the others are behind it.

    No cell is best where its mean is not a number, or where no value is better than another. What
    was trained with labels is a mark, not a rival: it is never the best, but may be behind it.
    """
    kind = figure_kind(figure)
    side = 1 if compare == "column" else 0
    found = {}
    for place, cell in cells.items():
        group = [other for other in cells if other[side] == place[side]]
        rivals = [other for other in group if other not in taught] or group
        best = max(rivals, key=lambda other: kind.merit(cells[other].mean))
        above = place not in rivals and kind.merit(cell.mean) > kind.merit(cells[best].mean)
        if not kind.ranked or not isfinite(cells[best].mean) or above:
            found[place] = cell
        elif place == best:
            found[place] = replace(cell, best=len(rivals) > 1)
        else:
            found[place] = replace(
                cell, p=chance_of_difference(grouped[place], grouped[best], figure)
            )
    return found


def chance_of_difference(
    one: Sequence[Outcome], best: Sequence[Outcome], figure: str
) -> float | None:
    """Return the p of a difference in a figure: image by image where both have the same ones.

    Over seeds it is of the difference in how good the means are: an alpha of 0.8 and one of 1.2
    are as good as each other. None where the seeds cannot tell, or one of them has no figure.
    """
    both = [*one, *best]
    same = {(o.tested, o.data) for o in both}
    if len(same) == 1 and all(figure in o.right for o in both):
        shares = [
            torch.stack([from_bitmap(o.right[figure], count=o.tested).double() for o in some])
            for some in (one, best)
        ]
        return paired(*shares)
    values = [[o.figures[figure] for o in some] for some in (one, best)]
    if not all(isfinite(value) for some in values for value in some):
        return None
    less, more = (figure_kind(figure).merit(statistics.fmean(some)) for some in values)
    return over_seeds(*values, apart=less - more)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
