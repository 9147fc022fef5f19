"""The table of a confirmation: differences, their chance, and Holm's correction over all."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from counterpoint.study.outcome import Outcome
from counterpoint.study.tables.outcome_table import chance_of_difference
from counterpoint.study.tables.significance import holm


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One found method against one rival: the same images, budget and probe."""

    found: str
    rival: str
    column: str
    probe: str
    seeds: int
    means: tuple[float, float]
    """Mean test accuracy over the seeds, of the found method and of the rival."""
    spreads: tuple[float | None, float | None]
    p: float
    corrected: float
    """The p after Holm's correction over all comparisons of the table."""

    @property
    def points(self) -> float:
        """How far the found method is ahead, in percent of the test images."""
        return 100 * (self.means[0] - self.means[1])


def confirmed(outcomes: Sequence[Outcome], *, found: Sequence[str]) -> list[Compared]:
    """Compare every found method with every other contender, in each column and by each probe.

    `found` are the names of what the search found, the rows of their trials. The p is that of
    `tables.significance.paired`: a t-test over seeds and test images. The correction is
    over all comparisons made here: all columns, all probes, all data sets. Candidates that lost in
    the search need none: test images and seeds are fresh.
    """
    done = [o for o in outcomes if o.state == "done"]
    cells: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in sorted(done, key=lambda o: (o.trial.seed, o.fingerprint)):
        cells.setdefault((outcome.trial.row, outcome.trial.column), []).append(outcome)
    columns = dict.fromkeys(o.trial.column for o in outcomes)
    rivals = [row for row in dict.fromkeys(o.trial.row for o in outcomes) if row not in found]
    pairs = [
        (one, rival, column, probe)
        for column in columns
        for one in found
        for rival in rivals
        if (one, column) in cells and (rival, column) in cells
        for probe in cells[one, column][0].trial.probes
    ]
    chances = [
        _chance(cells[one, column], cells[rival, column], probe)
        for one, rival, column, probe in pairs
    ]
    return [
        Compared(
            found=one,
            rival=rival,
            column=column,
            probe=probe,
            seeds=min(len(cells[one, column]), len(cells[rival, column])),
            means=(_mean(cells[one, column], probe), _mean(cells[rival, column], probe)),
            spreads=(_spread(cells[one, column], probe), _spread(cells[rival, column], probe)),
            p=p,
            corrected=corrected,
        )
        for (one, rival, column, probe), p, corrected in zip(
            pairs, chances, holm(chances), strict=True
        )
    ]


def confirmed_markdown(table: Sequence[Compared]) -> str:
    """Write a confirmation as a Markdown table, in percent of the test images."""
    lines = [
        "| images and budget | probe | found | rival | found % | rival % | points | p | p, Holm |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in table:
        mine, theirs = (
            f"{100 * mean:.1f}" + ("" if spread is None else f" ± {100 * spread:.1f}")
            for mean, spread in zip(one.means, one.spreads, strict=True)
        )
        lines.append(
            f"| {one.column} | {one.probe} | {one.found} | {one.rival} | {mine} | {theirs} "
            f"| {one.points:+.1f} | {one.p:.2g} | {one.corrected:.2g} |"
        )
    return "\n".join(lines) + "\n"


def _chance(one: Sequence[Outcome], rival: Sequence[Outcome], probe: str) -> float:
    """Return the p of a difference; 1 where one seed a side says nothing."""
    found = chance_of_difference(one, rival, probe)
    return 1.0 if found is None else found


def _mean(outcomes: Sequence[Outcome], probe: str) -> float:
    return fmean(o.figures[probe] for o in outcomes)


def _spread(outcomes: Sequence[Outcome], probe: str) -> float | None:
    values = [o.figures[probe] for o in outcomes]
    return stdev(values) if len(values) > 1 else None
