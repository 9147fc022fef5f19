"""The table of a confirmation: differences, their chance, and Holm's correction over all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from counterpoint.study.outcome import Outcome
from counterpoint.study.tables.outcome_table import chance_of_difference
from counterpoint.study.tables.significance import holm
from counterpoint.study.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One found method against one rival: the same images, budget and probe."""

    found: str
    rival: str
    column: str
    probe: str
    seeds: tuple[int, int]
    """Seeds that finished, of the found method and of the rival."""
    planned: int
    """Seeds that each of them should have."""
    means: tuple[float, float]
    """Mean test accuracy over the seeds, of the found method and of the rival."""
    spreads: tuple[float | None, float | None]
    core_seconds: tuple[float, float]
    """Processor time of a trial, views and optimiser included: operations leave these out."""
    p: float | None
    """None where seeds are missing: those that finished may be the lucky ones."""
    corrected: float | None
    """The p after Holm's correction over all comparisons that were planned."""

    @property
    def points(self) -> float:
        """How far the found method is ahead, in percent of the test images."""
        return 100 * (self.means[0] - self.means[1])


def confirmed(
    outcomes: Sequence[Outcome], *, found: Sequence[str], planned: Sequence[Trial] = ()
) -> list[Compared]:
    """Compare every found method with every other contender, in each column and by each probe.

    `found` are the names of what the search found, the rows of their trials. `planned` are all
    trials of the confirmation, those of the outcomes if not given. A comparison has a p if both
    sides have two seeds at least and all of them finished: that of `tables.significance.paired`, a
    t-test over seeds and test images. The correction is over all comparisons that were planned:
    all columns, all probes, all data sets. Candidates that lost in the search need none: test
    images and seeds are fresh.
    """
    trials = list(planned) or [outcome.trial for outcome in outcomes]
    done: dict[str, Outcome] = {o.fingerprint: o for o in outcomes if o.state == "done"}
    seeds: dict[tuple[str, str, str], set[int]] = {}
    for trial in trials:
        seeds.setdefault(_cell(trial), set()).add(trial.seed)
    cells: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in sorted(done.values(), key=lambda o: (o.trial.seed, o.fingerprint)):
        cells.setdefault(_cell(outcome.trial), []).append(outcome)
    probes = {trial.column: trial.probes for trial in trials}
    pairs = [
        (one, rival, probe)
        for one in seeds
        if one[0] in found
        for rival in seeds
        if rival[0] not in found and rival[1:] == one[1:]
        for probe in probes[one[1]]
    ]
    chances = [
        _chance(cells[one], cells[rival], probe)
        if all(1 < len(cells.get(side, [])) == len(seeds[side]) for side in (one, rival))
        else None
        for one, rival, probe in pairs
    ]
    corrected = holm([1.0 if p is None else p for p in chances])
    return [
        Compared(
            found=one[0],
            rival=rival[0],
            column=one[1],
            probe=probe,
            seeds=(len(cells[one]), len(cells[rival])),
            planned=len(seeds[one]),
            means=(_mean(cells[one], probe), _mean(cells[rival], probe)),
            spreads=(_spread(cells[one], probe), _spread(cells[rival], probe)),
            core_seconds=(_core_seconds(cells[one]), _core_seconds(cells[rival])),
            p=p,
            corrected=None if p is None else after,
        )
        for (one, rival, probe), p, after in zip(pairs, chances, corrected, strict=True)
        if one in cells and rival in cells
    ]


def confirmed_markdown(table: Sequence[Compared]) -> str:
    """Write a confirmation as a Markdown table, in percent of the test images."""
    lines = [
        "| images and budget | probe | found | rival | found % | rival % | seeds | core s | points "
        "| p | p, Holm |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in table:
        mine, theirs = (
            f"{100 * mean:.1f}" + ("" if spread is None else f" ± {100 * spread:.1f}")
            for mean, spread in zip(one.means, one.spreads, strict=True)
        )
        seconds = " and ".join(f"{value:.0f}" for value in one.core_seconds)
        chances = " | ".join("" if p is None else f"{p:.2g}" for p in (one.p, one.corrected))
        lines.append(
            f"| {one.column} | {one.probe} | {one.found} | {one.rival} | {mine} | {theirs} "
            f"| {seed_words(one)} | {seconds} | {one.points:+.1f} | {chances} |"
        )
    return "\n".join(lines) + "\n"


def seed_words(one: Compared) -> str:
    """Say how many seeds a comparison has, and whether some are missing."""
    mine, theirs = one.seeds
    if (mine, theirs) == (one.planned, one.planned):
        return str(one.planned)
    return f"{mine} and {theirs} of {one.planned}"


def _cell(trial: Trial) -> tuple[str, str, str]:
    """Return what trials share that differ in their seed alone: row, column and a fingerprint.

    Row and column are words. Images and budget decide: two folders may have one name.
    """
    where = replace(trial, seed=0, method="", training=())
    return trial.row, trial.column, where.fingerprint


def _chance(one: Sequence[Outcome], rival: Sequence[Outcome], probe: str) -> float:
    """Return the p of a difference; 1 if no two seeds differ."""
    found = chance_of_difference(one, rival, probe)
    return 1.0 if found is None else found


def _mean(outcomes: Sequence[Outcome], probe: str) -> float:
    return fmean(o.figures[probe] for o in outcomes)


def _spread(outcomes: Sequence[Outcome], probe: str) -> float | None:
    values = [o.figures[probe] for o in outcomes]
    return stdev(values) if len(values) > 1 else None


def _core_seconds(outcomes: Sequence[Outcome]) -> float:
    return fmean(o.cost.core_seconds for o in outcomes)
