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
    """Keep fewer seeds, fewer images of each split, or a smaller budget; other trials they are.

    >>> some = [Trial(method="cpc", data="", budget=Images(9), seed=seed) for seed in range(3)]
    >>> [trial.seed for trial in shortened(some, seeds=2)]
    [0, 1]
    """
    kept = [trial for trial in trials if seeds is None or trial.seed < seeds]
    if limit is not None:
        kept = [replace(trial, limit=limit) for trial in kept]
    if images is not None:
        kept = [replace(trial, budget=Images(images)) for trial in kept]
    return kept
