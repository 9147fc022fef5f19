"""A confirmation of a search: its trials run and kept in the search's folder, and its table."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from counterpoint.address import is_address
from counterpoint.design.candidate import Candidate
from counterpoint.design.candidate_settings import image_side
from counterpoint.design.confirmation import (
    SEEDS,
    TOP,
    confirmation_trials,
    contenders,
    fresh_seeds,
    images_seen,
)
from counterpoint.design.confirmation_plan import ConfirmationPlan, read_plan, write_plan
from counterpoint.design.confirmed import Compared, confirmed
from counterpoint.design.design_settings import image_facts, trial_of
from counterpoint.design.repeated_trials import after_taking, confirmed_earlier, keep_repeated
from counterpoint.design.rivals import shipped_rivals, tuned_rivals
from counterpoint.design.search_best import best_of_random, new_methods
from counterpoint.design.search_files import (
    CONFIRMED,
    read_design,
    read_settings,
    restore_outcomes,
    seeds_used,
)
from counterpoint.design.searched import Searched
from counterpoint.study.budget import Flops
from counterpoint.study.bundle import bundled
from counterpoint.study.result_store import ResultStore
from counterpoint.study.runners.run_trials import RunTrials
from counterpoint.study.tables.outcome_table import outcomes_in_order
from counterpoint.study.trial import Trial
from counterpoint.study.trial_job import labelled_splits, opened
from counterpoint.whole_file import write_whole

FOLDER = "confirmation"
HEAT_SEED = 1_000_000  # beyond all seeds that --seeds asks for
SHIPPED = 3  # shipped methods that are rivals: our choice


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmRequest:
    """What is confirmed, against what, and on which images."""

    data: str | None = None
    """Other images; those of the search if not given."""
    random: Path | None = None
    """The folder of a random search of the same cost."""
    top: int = TOP
    seeds: int = SEEDS
    shipped: int = SHIPPED
    tuned: bool = False
    """Whether shipped methods whose learning rate was chosen are rivals too."""

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.top, self.seeds, self.shipped


def confirm(out: Path, asked: ConfirmRequest, run: RunTrials) -> list[Compared]:
    """Run what is missing of a confirmation, and compare everything that was confirmed so far.

    Contenders, seeds and budgets are decided once, on the images of the search, and written to
    confirmation.json: on other images, and after more hours of search, everything is run as it is.
    What was run is kept in the folder of the search and is never run again. Nor is what was run to
    confirm an earlier search that this one was begun with. A random search and tuned rivals may
    come later, once.
    """
    found = read_design(out)
    if not found.candidates:
        raise ValueError(f"design: {out} has no finished candidate; search longer")
    store, plan = _store(out), read_plan(out)
    asked = replace(asked, data=_other_data(found, asked.data, store))
    _refuse_without_labels(found, asked.data)
    run = after_taking(confirmed_earlier(found.settings), run)
    random = _random_rival(found, asked.random, plan)
    try:
        if plan is None:
            plan = _choose(out, found, asked, random, store, run)
            write_plan(out, plan)
        else:
            plan.refuse_other(out, asked.counts, None)  # before a rival is added for good
            if random is not None and plan.random is None and asked.random is not None:
                plan = plan.with_random(random, read_settings(asked.random).seed)
                write_plan(out, plan)
        plan.refuse_other(out, asked.counts, random)
        if asked.tuned and not plan.tuned:
            plan = plan.with_tuned(tuned_rivals(found, store, run, plan))
            write_plan(out, plan)
        trials = _trials(found, plan, asked.data, store)
        planned = dict(store.planned()) | {trial.fingerprint: trial for trial in trials}
        store.plan(list(planned.values()))
        by_operations = [one for one in trials if isinstance(one.budget, Flops)]
        by_images = [one for one in trials if not isinstance(one.budget, Flops)]
        for some in (by_operations, by_images):
            keep_repeated(trials, store)
            for _ in run(some, store):
                pass
    finally:  # however it ends
        if ended := store.every():
            write_whole(out / CONFIRMED, bundled((ended, store.planned())))
    return read_confirmation(out)


def _store(out: Path) -> ResultStore:
    """Return where the outcomes are, with those of CONFIRMED that are not there yet."""
    store = ResultStore(str(out / FOLDER))
    restore_outcomes(out / CONFIRMED, store)
    return store


def read_confirmation(out: Path) -> list[Compared]:
    """Compare what was confirmed so far; nothing where nothing was."""
    store = _store(out)
    planned = store.planned()
    outcomes = outcomes_in_order(store.every(), planned)
    names = dict.fromkeys(trial.row for _, trial in planned if trial.row.startswith("found "))
    return confirmed(outcomes, found=list(names), planned=[trial for _, trial in planned])


def _choose(
    out: Path,
    found: Searched,
    asked: ConfirmRequest,
    random: Candidate | None,
    store: ResultStore,
    run: RunTrials,
) -> ConfirmationPlan:
    """Decide everything that a confirmation must not decide twice."""
    best = new_methods(found)[: asked.top]
    if not best:
        raise ValueError(
            f"design: {out} has no finished candidate that is not a known method; search longer"
        )
    used = seeds_used(found.settings)
    if asked.random is not None:
        used.add(read_settings(asked.random).seed)
    heat = next(seed for seed in range(HEAT_SEED, HEAT_SEED + 3) if seed not in used)
    shipped = shipped_rivals(found, store, run, seed=heat, count=asked.shipped)
    named = contenders(best, shipped, random)
    first = next((one for one in named if one.role == "shipped"), named[0]).candidate
    wanted = found.settings
    image = image_facts(wanted.data, size=wanted.size, limit=wanted.limit).image
    return ConfirmationPlan(
        counts=asked.counts,
        random=None if random is None else random.fingerprint,
        heat_seed=heat,
        seeds=tuple(fresh_seeds(used, asked.seeds)),
        images=images_seen(first, Flops(wanted.full), image),
        contenders=tuple(named),
    )


def pattern_of(found: Searched, candidate: Candidate, data: str | None) -> Trial:
    """Return the trial of a candidate at full length, on other images if asked.

    On other images the side stays the one that the method was composed for, and all of them are
    used.
    """
    trial = trial_of(candidate, found.settings.rungs[-1], found.settings)
    if data is None:
        return trial
    return replace(trial, data=data, size=image_side(candidate.method), limit=None)


def _random_rival(
    found: Searched, place: Path | None, plan: ConfirmationPlan | None
) -> Candidate | None:
    """Return the best of a random search; once it is decided, the one that it was then.

    Either search may have had more hours since.
    """
    if place is None:
        return None
    decided = None if plan is None else plan.random
    candidates = {} if decided is None else read_design(place).candidates
    return candidates[decided] if decided in candidates else best_of_random(place, found)


def _other_data(found: Searched, data: str | None, store: ResultStore) -> str | None:
    """Return other images by one spelling; None where they are those of the search."""
    if data is None:
        return None
    own, wanted = found.settings.data, _place(data)
    known = (own, *(trial.data for _, trial in store.planned()))
    same = next((one for one in known if _place(one) == wanted), data.rstrip("/"))
    return None if same == own else same


def _place(data: str) -> str:
    """Return where images are, however a person or an earlier command spelled it."""
    whole = os.path.expandvars(data)
    return whole.rstrip("/") if is_address(whole) else str(Path(whole).resolve())


def _refuse_without_labels(found: Searched, data: str | None) -> None:
    """Refuse images that a confirmation cannot be scored on, before anything is trained."""
    first = next(iter(found.candidates.values()))
    trial = replace(pattern_of(found, first, data), untested=False, labelled=None)
    labelled_splits(trial, opened(trial))


def _trials(
    found: Searched, plan: ConfirmationPlan, data: str | None, store: ResultStore
) -> list[Trial]:
    named = plan.contenders
    first = next((one for one in named if one.role == "shipped"), named[0]).candidate
    place = data or found.settings.data
    taken = {trial.column for _, trial in store.planned() if trial.data != place}
    name = data_name(place)
    if any(column.startswith(f"{name}, ") for column in taken):
        name = place  # another folder has this name
    return confirmation_trials(
        named,
        pattern_of(found, first, data),
        full=found.settings.full,
        images=plan.images,
        seeds=plan.seeds,
        data=name,
    )


def data_name(place: str) -> str:
    """Return the last part of a place, for people.

    >>> data_name("$COUNTERPOINT_DATA/cifar10/")
    'cifar10'
    """
    return place.rstrip("/").rpartition("/")[2]
