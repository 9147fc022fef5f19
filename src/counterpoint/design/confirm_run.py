"""A confirmation of a search: its trials run and kept in the search's folder, and its table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from counterpoint.design.candidate import Candidate
from counterpoint.design.confirmation import (
    SEEDS,
    TOP,
    Contender,
    best_of_heat,
    confirmation_trials,
    contenders,
    fresh_seeds,
    heat_trials,
    images_seen,
)
from counterpoint.design.confirmed import Compared, confirmed
from counterpoint.design.design_settings import ground_of, trial_of
from counterpoint.design.evolution import ranked
from counterpoint.design.search_files import Searched, read_design
from counterpoint.design.variation import image_side
from counterpoint.methods import RECIPES
from counterpoint.study.budget import Flops
from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.tables.outcome_table import outcomes_in_order
from counterpoint.study.trial import Trial

FOLDER = "confirmation"
SHIPPED = 3  # shipped methods that are rivals: our choice
Run = Callable[[Sequence[Trial], ResultStore], Iterator[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is confirmed, against what, and on which images."""

    data: str | None = None
    """Other images; those of the search if not given."""
    random: Path | None = None
    """The folder of a random search of the same cost."""
    top: int = TOP
    seeds: int = SEEDS
    shipped: int = SHIPPED


def new_methods(found: Searched) -> list[Candidate]:
    """Return the candidates that are no known method, the best first."""
    best = [one.candidate for one in ranked(found.judged())]
    return [one for one in best if one.parents or one.change not in RECIPES]


def known_methods(found: Searched) -> list[Candidate]:
    """Return the known methods of a search, as they were run."""
    every = found.candidates.values()
    return [one for one in every if not one.parents and one.change in RECIPES]


def confirm(out: Path, asked: Asked, run: Run) -> list[Compared]:
    """Run what is missing of a confirmation, and compare everything that was confirmed so far.

    Rivals are chosen once, on the images of the search: on other images everything is run as it
    is. What was run is kept in the folder of the search and is never run again.
    """
    found = read_design(out)
    store = ResultStore(str(out / FOLDER))
    best = new_methods(found)[: asked.top]
    if not best:
        raise ValueError(
            f"design: {out} has no finished candidate that is not a known method; search longer"
        )
    random = None if asked.random is None else _best_of(asked.random, found)
    seeds = fresh_seeds({found.settings.seed}, asked.seeds + 1)
    shipped = _rivals(found, store, run, seed=seeds[-1], count=asked.shipped)
    named = contenders(best, shipped, random)
    trials = _trials(found, named, seeds[:-1], asked.data)
    planned = dict(store.planned()) | {trial.fingerprint: trial for trial in trials}
    store.plan(list(planned.values()))
    for _ in run(trials, store):
        pass
    return read_confirmation(out)


def read_confirmation(out: Path) -> list[Compared]:
    """Compare what was confirmed so far; nothing where nothing was."""
    store = ResultStore(str(out / FOLDER))
    outcomes = outcomes_in_order(store.every(), store.planned())
    names = dict.fromkeys(o.trial.row for o in outcomes if o.trial.row.startswith("found "))
    return confirmed(outcomes, found=list(names))


def pattern_of(found: Searched, candidate: Candidate, data: str | None) -> Trial:
    """Return the trial of a candidate at full length, on other images if asked.

    On other images the side stays the one that the method was composed for, and all of them are
    used.
    """
    trial = trial_of(candidate, found.settings.rungs[-1], found.settings)
    if data is None:
        return trial
    return replace(trial, data=data, size=image_side(candidate.method), limit=None)


def _trials(
    found: Searched, named: Sequence[Contender], seeds: Sequence[int], data: str | None
) -> list[Trial]:
    first = next((one for one in named if one.role == "shipped"), named[0]).candidate
    wanted = found.settings
    image = ground_of(wanted.data, size=wanted.size, limit=wanted.limit).image
    return confirmation_trials(
        named,
        pattern_of(found, first, data),
        full=wanted.full,
        images=images_seen(first, Flops(wanted.full), image),
        seeds=seeds,
        data=data_name(data or found.settings.data),
    )


def _rivals(
    found: Searched, store: ResultStore, run: Run, *, seed: int, count: int
) -> list[Candidate]:
    """Choose the shipped methods to compare with: with labels, at full length."""
    shipped = known_methods(found)
    if not shipped:
        raise ValueError("design: this search has no known methods; confirm one by evolution")
    heats = heat_trials(
        shipped, pattern_of(found, shipped[0], None), full=found.settings.full, seed=seed
    )
    for _ in run(heats, store):
        pass
    done = [outcome for outcome in map(store.find, heats) if outcome is not None]
    return best_of_heat(shipped, done, count)


def _best_of(place: Path, found: Searched) -> Candidate:
    """Return the best of a random search; it has to have had as much to spend."""
    other = read_design(place)
    if other.settings.strategy != "random":
        raise ValueError(
            f"design: {place} is not a random search; counterpoint design --strategy random is one"
        )
    mine, theirs = found.settings, other.settings
    if (mine.data, mine.full, mine.encoder) != (theirs.data, theirs.full, theirs.encoder):
        raise ValueError(
            f"design: {place} has other images, another encoder or another length of trials; "
            "search at random with the options of the search"
        )
    best = new_methods(other)
    if not best:
        raise ValueError(f"design: {place} has no finished candidate; search longer")
    return best[0]


def data_name(place: str) -> str:
    """Return the last part of a place, for people.

    >>> data_name("$COUNTERPOINT_DATA/cifar10/")
    'cifar10'
    """
    return place.rstrip("/").rpartition("/")[2]
