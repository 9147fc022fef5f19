"""Trials of a confirmation that need not run again: equal ones are done already."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from counterpoint.design.design_settings import DesignSettings
from counterpoint.design.search_files import CONFIRMED, folder_of_earlier, read_settings
from counterpoint.study.budget import Images
from counterpoint.study.bundle import read_study
from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.runners.run_trials import RunTrials
from counterpoint.study.trial import Trial


def keep_repeated(trials: Sequence[Trial], store: ResultStore) -> None:
    """Keep the outcome of a trial at equal operations for the same trial at equal images.

    They are the same where both see as many images: all else is equal, so the same weights come
    out. The first shipped method has such trials, because the images of the second budget are
    those that it sees with the first.
    """
    by_operations = {
        (one.row, one.seed): one for one in trials if not isinstance(one.budget, Images)
    }
    for trial in trials:
        earlier = by_operations.get((trial.row, trial.seed))
        if not isinstance(trial.budget, Images) or earlier is None or store.find(trial) is not None:
            continue
        found = store.find(earlier)
        if found is not None and found.cost.images == trial.budget.n:
            store.keep(replace(found, trial=trial, fingerprint=trial.fingerprint))


def confirmed_earlier(settings: DesignSettings) -> dict[str, Outcome]:
    """Return what finished in the confirmations of the searches that this one was begun with.

    By the trial's fingerprint: shipped methods are rivals again, with the same seeds.
    """
    folder = folder_of_earlier(settings)
    if folder is None:
        return {}
    file = folder / CONFIRMED
    outcomes = read_study(str(file))[0] if file.exists() else []
    known = {one.fingerprint: one for one in outcomes if one.state == "done"}
    return confirmed_earlier(read_settings(folder)) | known


def after_taking(known: Mapping[str, Outcome], run: RunTrials) -> RunTrials:
    """Return a runner that takes the outcomes that are known, and runs the other trials."""

    def run_others(trials: Sequence[Trial], store: ResultStore) -> Iterator[Outcome]:
        for trial in trials:
            outcome = known.get(trial.fingerprint)
            if outcome is not None and store.find(trial) is None:
                store.keep(replace(outcome, trial=trial))
        yield from run(trials, store)

    return run_others
