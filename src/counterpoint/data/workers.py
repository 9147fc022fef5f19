"""How many processes read images: one rule for training, evaluation and the doctor."""

import os

from counterpoint.data.source import Source

MOST = 8  # our choice: more seldom read faster, and each holds a copy of what it works on


def loader_workers(source: Source, asked: int | None = None) -> int:
    """Return how many worker processes read a source.

    As many as are asked for; else one for each core that this process may use, at most 8. Images
    that need no decoding have none, whatever was asked.
    """
    if not source.decodes:
        return 0
    return min(MOST, cores()) if asked is None else asked


def cores() -> int:
    """Count the cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity else os.cpu_count() or 1
