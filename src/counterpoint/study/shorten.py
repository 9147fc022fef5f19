"""A study cut short, for a quick look."""

from collections.abc import Sequence
from dataclasses import replace

from counterpoint.study.budget import Images
from counterpoint.study.trial import Trial


def shortened(
    trials: Sequence[Trial],
    *,
    seeds: int | None = None,
    limit: int | None = None,
    images: int | None = None,
) -> list[Trial]:
    """Keep fewer seeds, fewer images of each split, or a smaller budget: these are other trials.

    The seeds that are kept are the first of each cell in the order of the study, whatever their
    numbers.

    >>> some = [Trial(method="cpc", data="", budget=Images(9), seed=seed) for seed in (3, 1, 2)]
    >>> [trial.seed for trial in shortened(some, seeds=2)]
    [3, 1]
    """
    if not trials:
        raise ValueError("study: got no trials; needs at least one: give a list of Trial")
    kept = list(trials) if seeds is None else _first_seeds(trials, seeds)
    if limit is not None:
        kept = [replace(trial, limit=limit) for trial in kept]
    if images is not None:
        kept = [replace(trial, budget=Images(images)) for trial in kept]
    return kept


def _first_seeds(trials: Sequence[Trial], count: int) -> list[Trial]:
    if count < 1:
        raise ValueError(f"study: seeds is {count}; it needs to be 1 or more")
    own: dict[Trial, list[int]] = {}
    kept = []
    for trial in trials:
        # A name may say the seed, and one seed of a cell may have a budget in seconds, by which
        # the others see as many images. Row and column stay: one trial may stand in two columns.
        seen = own.setdefault(replace(trial, seed=0, name="", budget=Images(1)), [])
        if trial.seed not in seen and len(seen) < count:
            seen.append(trial.seed)
        if trial.seed in seen:
            kept.append(trial)
    return kept
