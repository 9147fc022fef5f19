"""A search: rounds of candidates, each by successive halving, until the hours are used."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from counterpoint.design.candidate import Candidate
from counterpoint.design.design_settings import DesignSettings, image_facts, trial_of
from counterpoint.design.evolution import Round, next_round
from counterpoint.design.halving import Rung, promoted
from counterpoint.design.search_files import (
    OUTCOMES,
    TRIALS,
    has_begun,
    outcome_of,
    read_round,
    refuse_another,
    unbundle,
    write_round,
)
from counterpoint.design.search_start import accept_of, first_of, pool_of
from counterpoint.design.searched import Searched
from counterpoint.failures import RunFailure
from counterpoint.study.bundle import bundled
from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import FILE, ResultStore
from counterpoint.study.runners.run_trials import RunTrials
from counterpoint.study.trial import Trial
from counterpoint.study.trial_job import labelled_splits, opened
from counterpoint.whole_file import write_whole


@runtime_checkable
class Watcher(Protocol):
    """Who is told how far a search is."""

    def round_wanted(self, number: int) -> None: ...

    def round_begun(self, number: int, made: Round) -> None: ...

    def rung_begun(self, rung: Rung, trials: int, done: int) -> None: ...

    def trial_ended(self, outcome: Outcome, found: Searched) -> None: ...

    def round_ended(self, number: int, found: Searched, pool: Sequence[Candidate]) -> None: ...


def design(
    settings: DesignSettings,
    out: Path,
    *,
    hours: float,
    run: RunTrials,
    watcher: Watcher,
    rounds: int | None = None,
    halved: int | None = None,
) -> Searched:
    """Search until another round would not fit into the core-hours; resume what is in `out`.

    With `rounds` it ends after so many too. The first `halved` rounds are by successive halving,
    or all. The later ones train every candidate in full, and the search stays so. A round that was
    begun is always finished as it was begun, and there is one at least. Rounds are a function of
    the settings and of the figures found before, and every figure one of its trial: a search that
    was killed at any time and started again proposes what an undisturbed one does. Work that is
    done twice counts, so that it may reach fewer rounds in its hours; with `rounds`, and hours
    enough, it has the same ones.
    """
    _refuse(rounds, halved)
    ground = image_facts(settings.data, size=settings.size, limit=settings.limit)
    pool = pool_of(settings, ground)
    if settings.probes:
        trial = trial_of(pool[0], settings.rungs[-1], settings)
        labelled_splits(trial, opened(trial))
    first = None if has_begun(out) else first_of(settings, ground)
    refuse_another(settings, out)
    out.mkdir(parents=True, exist_ok=True)
    kept = unbundle(out)
    found = Searched(settings)
    store = ResultStore(str(out / TRIALS))
    while True:
        number = len(found.rounds)
        made = read_round(out, number)
        if made is None:
            next_halved = found.will_be_halved(number, halved)
            if number and found.hours_with([next_halved]) > hours:
                return found
            if rounds is not None and number >= rounds:
                return found
            watcher.round_wanted(number)
            made = next_round(
                settings.seed,
                number,
                found.judged(),
                pool,
                accept_of(settings, ground, halved=next_halved),
                size=settings.candidates,
                seen=found.seen,
                strategy=settings.strategy,
                halved=next_halved,
                first=first,
            )
            if not made.candidates and number == 0:
                raise ValueError(_nothing_to_try(made))
            if not made.candidates:  # the grammar is used up
                return found
            write_round(settings, out, number, made)
        watcher.round_begun(number, made)
        found.rounds.append(made)
        try:
            _halve(found, store, run, watcher)
            nothing = _all_failed(found)
            if nothing is not None:
                _forget_last_round(found, store, kept)
        finally:  # also of a round that was stopped
            write_whole(out / OUTCOMES, bundled(_bundle(found, kept)))
        if nothing is not None:
            raise RunFailure(nothing)
        watcher.round_ended(number, found, pool)


def _refuse(rounds: int | None, halved: int | None) -> None:
    """Refuse numbers of rounds that no search has."""
    if rounds is not None and rounds < 1:
        raise ValueError(f"design: got {rounds} rounds; a search has one at least")
    if halved is not None and halved < 0:
        raise ValueError(f"design: got {halved} halved rounds; give 0 for none, or leave it out")


def _nothing_to_try(made: Round) -> str:
    """Say why a search cannot begin."""
    candidate, why = made.refused[0]
    return (
        f"design: all {len(made.refused)} candidates were refused; {candidate.change} for {why}; "
        "give more --hours, --full-epochs, a smaller --batch-size or a smaller --encoder"
    )


def _all_failed(found: Searched) -> str | None:
    """Say that the last round gave nothing, where it did not: the next would not either."""
    own = _of_last_round(found)
    if any(outcome.state != "failed" for outcome in own.values()):
        return None
    first = next(iter(own.values()))
    return (
        f"design: all {len(own)} trials of round {len(found.rounds) - 1} failed; the same command "
        f"runs them again; the first said: {first.error}"
    )


def _forget_last_round(found: Searched, store: ResultStore, kept: dict[str, Outcome]) -> None:
    """Take the failures of a round back: where all fail, the cause is hardly the candidates."""
    for key, outcome in _of_last_round(found).items():
        (store.workplace(outcome.trial) / FILE).unlink(missing_ok=True)
        del found.outcomes[key]
        kept.pop(outcome.fingerprint, None)


def _of_last_round(found: Searched) -> dict[tuple[str, int], Outcome]:
    names = {one.fingerprint for one in found.rounds[-1].candidates}
    return {key: outcome for key, outcome in found.outcomes.items() if key[0] in names}


def _halve(found: Searched, store: ResultStore, run: RunTrials, watcher: Watcher) -> None:
    """Run the last round of a search, rung by rung."""
    going = list(found.rounds[-1].candidates)
    for place, rung in enumerate(found.settings.rungs_of(found.rounds[-1])):
        if place > 0:
            scores, again = found.standing(rung.number - 1), found.doubles
            by_name = {c.fingerprint: c for c in going if c.fingerprint not in again}
            own = {name: scores[name] for name in by_name}
            going = [by_name[name] for name in promoted(own, rung.places)]
        trials = {c.fingerprint: trial_of(c, rung, found.settings) for c in going}
        todo = []
        for name, trial in trials.items():
            outcome = outcome_of(trial, store)
            if outcome is None:
                todo.append(trial)
            else:
                found.outcomes[name, rung.number] = outcome
                forget_weights(trial, store)  # it may have been killed just before
        watcher.rung_begun(rung, len(trials), len(trials) - len(todo))
        for outcome in run(todo, store):
            found.outcomes[outcome.trial.name, rung.number] = outcome
            forget_weights(outcome.trial, store)
            watcher.trial_ended(outcome, found)
        for trial in todo:
            if (trial.name, rung.number) not in found.outcomes:
                found.outcomes[trial.name, rung.number] = _found_by_another(trial, store)
                forget_weights(trial, store)


def _found_by_another(trial: Trial, store: ResultStore) -> Outcome:
    """Read the outcome of a trial that was not yielded.

    A worker that outlived its killed search may have finished it meanwhile.
    """
    outcome = outcome_of(trial, store)
    if outcome is None:
        raise RunFailure(f"design: the trial {trial.key} ended without an outcome")
    return outcome


def forget_weights(trial: Trial, store: ResultStore) -> None:
    """Remove the weights of a finished trial: a few hundred would fill a disk."""
    shutil.rmtree(store.workplace(trial) / "run", ignore_errors=True)


def _bundle(
    found: Searched, kept: Mapping[str, Outcome]
) -> tuple[list[Outcome], list[tuple[str, Trial]]]:
    """Return the outcomes in the order of the rounds, and those of rounds not read again yet."""
    places = [
        (candidate.fingerprint, rung.number)
        for made in found.rounds
        for rung in found.settings.rungs_of(made)
        for candidate in made.candidates
    ]
    ended = [found.outcomes[place] for place in places if place in found.outcomes]
    by_round = {one.fingerprint: one for one in ended}
    every = {**by_round, **{name: one for name, one in kept.items() if name not in by_round}}
    return list(every.values()), [(name, one.trial) for name, one in every.items()]
