"""Which checkpoints stay: plain arithmetic of steps, times and figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Score = Callable[[int], float | None]
"""How good a run was at a step, more is better; None where nobody knows."""


@dataclass(frozen=True, slots=True)
class Written:
    """A whole checkpoint: its step, and when it was written, in seconds."""

    step: int
    time: float


def hourly(written: Sequence[Written], *, hours: float) -> set[int]:
    """Return the steps that stay for good: the oldest, and each that is so much younger.

    Those that stay are chosen again when the others are gone.

    >>> every = [Written(step, 3600.0 * step) for step in range(1, 9)]
    >>> sorted(hourly(every, hours=3))
    [1, 4, 7]
    """
    kept: list[Written] = []
    for one in sorted(written, key=lambda one: one.step):
        if hours > 0 and (not kept or one.time - kept[-1].time >= 3600 * hours):
            kept.append(one)
    return {one.step for one in kept}


def best(written: Sequence[Written], *, score: Score | None) -> set[int]:
    """Return the step with the highest score, the first of several; none where nobody knows.

    >>> some = [Written(10, 0), Written(20, 0), Written(30, 0)]
    >>> best(some, score={10: 0.5, 20: 0.75, 30: 0.75}.get)
    {20}
    """
    known = [
        (-value, one.step)
        for one in written
        if score is not None and (value := score(one.step)) is not None
    ]
    return {min(known)[1]} if known else set()
