"""Trials of a confirmation that both budgets make the same: one of them is run."""

from collections.abc import Sequence
from dataclasses import replace

from counterpoint.study.budget import Images
from counterpoint.study.result_store import ResultStore
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
