"""What health.jsonl says: one record for each epoch."""

import math
from dataclasses import dataclass
from pathlib import Path

from counterpoint.report.tolerant import finite, mapping, numbers, read_objects, text_or_none

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often values fell between each two edges."""

    edges: tuple[float, ...]
    counts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Epoch:
    """The health of a run at the end of one epoch."""

    epoch: float
    values: dict[str, float]
    """Measures by name, as in the file: rankme, alpha, lr and so on."""
    positive: Histogram | None
    negative: Histogram | None
    verdict: str | None
    why: str | None


def read_health(file: Path) -> tuple[Epoch, ...]:
    """Read every epoch of a health.jsonl; none if there is no such file."""
    return tuple(_epoch(place, line) for place, line in enumerate(read_objects(file), start=1))


def measure_history(epochs: tuple[Epoch, ...], name: str) -> tuple[Point, ...]:
    """Follow one measure over the epochs."""
    return tuple((e.epoch, e.values[name]) for e in epochs if name in e.values)


def _epoch(place: int, line: dict[str, object]) -> Epoch:
    found = {key: finite(value) for key, value in line.items() if key != "epoch"}
    epoch = finite(line.get("epoch"))
    return Epoch(
        epoch=float(place) if epoch is None else epoch,  # 0 is before training
        values={key: value for key, value in found.items() if value is not None},
        positive=_histogram(line.get("positive"), finite(line.get("limit"))),
        negative=_histogram(line.get("negative"), finite(line.get("limit"))),
        verdict=text_or_none(line.get("verdict")),
        why=text_or_none(line.get("why")),
    )


def _histogram(value: object, limit: float | None) -> Histogram | None:
    """Read counts with their edges, or counts of equal bins from -limit to limit."""
    if isinstance(value, list) and value and limit:
        equal = [limit * (2 * n / len(value) - 1) for n in range(len(value) + 1)]
        return _histogram({"edges": equal, "counts": value}, None)
    record = mapping(value)
    edges, counts = numbers(record.get("edges")), numbers(record.get("counts"))
    if not edges or not counts or len(edges) != len(counts) + 1:
        return None
    whole = all(math.isfinite(value) for value in (*edges, *counts)) and sum(counts) > 0
    return Histogram(edges, counts) if whole else None
