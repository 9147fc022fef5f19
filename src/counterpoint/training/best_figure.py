"""How good a run was at a step, from its logs: which checkpoint is the best one."""

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path

from counterpoint.log_lines import DAMAGE
from counterpoint.run_files import HEALTH, METRICS
from counterpoint.run_options import KEEP_BEST
from counterpoint.spelling import did_you_mean


def score_by(
    folder: Path, figure: str | None, *, health: bool = True
) -> Callable[[int], float | None] | None:
    """Return how good a run was at a step: by its last figure until then, more is better.

    `loss` is that of metrics.csv; the others are those of the looks at health, after each epoch.

    >>> score_by(Path("runs/photos"), "knm")
    Traceback (most recent call last):
    ValueError: checkpoint: keep_best is 'knm'; did you mean knn?
    """
    if figure is None:
        return None
    if figure not in KEEP_BEST:
        near = did_you_mean(figure, KEEP_BEST) or f"needs one of {', '.join(KEEP_BEST)}"
        raise ValueError(f"checkpoint: keep_best is {figure!r}; {near}")
    if figure != "loss" and not health:
        raise ValueError(f"checkpoint: keep_best is {figure!r}, which needs health=True")

    def score(step: int) -> float | None:
        lines = _losses(folder) if figure == "loss" else _looks(folder, figure)
        before = [value for at, value in lines if at <= step]
        if not before or not math.isfinite(before[-1]):
            return None
        return -before[-1] if figure == "loss" else before[-1]

    return score


def _losses(folder: Path) -> list[tuple[int, float]]:
    try:
        rows = list(csv.DictReader((folder / METRICS).read_text().splitlines()))
        return [(int(row["step"]), float(row["loss"])) for row in rows]
    except (OSError, *DAMAGE):
        return []


def _looks(folder: Path, figure: str) -> list[tuple[int, float]]:
    try:
        looks = [json.loads(line) for line in (folder / HEALTH).read_text().splitlines()]
        found = [(int(look["step"]), look.get(figure)) for look in looks]
    except (OSError, *DAMAGE):
        return []
    return [(step, float(value)) for step, value in found if value is not None]
