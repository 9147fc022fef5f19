"""What evaluation.json says: probes, classes and robustness."""

import math
from dataclasses import dataclass
from pathlib import Path

from counterpoint.evaluation.result import PROBE_WORDS
from counterpoint.report.tolerant import finite, mapping, numbers, read_object, text_or_none


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One probe on one share of the labels; accuracies are shares of the images."""

    name: str
    fraction: float
    settings: dict[str, object]
    validation: float | None
    test: float | None
    low: float | None
    high: float | None
    spread: float | None
    seeds: int
    calibration_error: float | None
    per_class: tuple[float, ...] | None
    confusion: tuple[tuple[float, ...], ...] | None
    """True classes in rows, predicted in columns, as counts."""
    right: tuple[str, ...]
    """For each seed which test images were predicted right, as hexadecimal digits."""
    seconds: float | None

    @property
    def words(self) -> str:
        """Its name as people say it."""
        return PROBE_WORDS.get(self.name, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessRecord:
    """Accuracy on images that were damaged or moved."""

    clean: float | None
    corruptions: dict[str, tuple[float, ...]]
    """By name, from the mildest to the strongest."""
    shifts: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Everything that an evaluation wrote down."""

    data: str | None
    fingerprint: str | None
    versions: dict[str, str]
    seed: float | None
    seconds: float | None
    peak_mb: float | None
    width: float | None
    classes: tuple[str, ...] | None
    probes: tuple[Probe, ...]
    robustness: RobustnessRecord | None
    steps: float | None = None
    """After how many steps of training; an earlier version did not write it."""
    map: float | None = None
    """The feature map that was probed; None is the last before a head."""

    def probe(self, name: str, fraction: float) -> Probe | None:
        """Find a probe; None if it was not measured."""
        wanted = (name, fraction)
        return next((p for p in self.probes if (p.name, p.fraction) == wanted), None)


def read_evaluation(file: Path) -> Evaluation | None:
    """Read an evaluation.json; None if there is none, or one without probes."""
    record = read_object(file)
    listed = record.get("probes")
    probes = tuple(map(_probe, filter(_is_probe, listed if isinstance(listed, list) else [])))
    if not probes:
        return None
    data, names = mapping(record.get("data")), record.get("classes")
    return Evaluation(
        data=text_or_none(data.get("name")),
        fingerprint=text_or_none(data.get("fingerprint")),
        versions={k: str(v) for k, v in mapping(record.get("versions")).items()},
        seed=finite(record.get("seed")),
        seconds=finite(record.get("seconds")),
        peak_mb=finite(record.get("peak_mb")),
        width=finite(record.get("width")),
        classes=tuple(map(str, names)) if isinstance(names, list) and names else None,
        probes=probes,
        robustness=_robustness(mapping(record.get("robustness"))),
        steps=finite(record.get("steps")),
        map=finite(record.get("map")),
    )


def _is_probe(value: object) -> bool:
    return text_or_none(mapping(value).get("name")) is not None


def _probe(record: dict[str, object]) -> Probe:
    seeds = record.get("seeds")
    fraction = finite(record.get("fraction"))
    return Probe(
        name=str(record["name"]),
        fraction=1.0 if fraction is None else fraction,
        settings=mapping(record.get("settings")),
        validation=finite(record.get("validation")),
        test=finite(record.get("test")),
        low=finite(record.get("low")),
        high=finite(record.get("high")),
        spread=finite(record.get("spread")),
        seeds=len(seeds) if isinstance(seeds, list) else 1,
        calibration_error=finite(record.get("calibration_error")),
        per_class=numbers(record.get("per_class")) or None,
        confusion=_square(record.get("confusion")),
        right=tuple(filter(None, map(text_or_none, _list(record.get("right"))))),
        seconds=finite(record.get("seconds")),
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _square(value: object) -> tuple[tuple[float, ...], ...] | None:
    """Read a confusion matrix; None unless it is as wide as high, and finite."""
    rows = [numbers(row) for row in value] if isinstance(value, list) else []
    square = tuple(row for row in rows if row is not None and len(row) == len(rows))
    whole = len(square) == len(rows) > 0 and all(math.isfinite(v) for row in square for v in row)
    return square if whole else None


def _robustness(record: dict[str, object]) -> RobustnessRecord | None:
    curves = {key: numbers(v) for key, v in mapping(record.get("corruptions")).items()}
    shifts = {key: finite(v) for key, v in mapping(record.get("shifts")).items()}
    found = RobustnessRecord(
        clean=finite(record.get("clean")),
        corruptions={key: curve for key, curve in curves.items() if curve},
        shifts={key: value for key, value in shifts.items() if value is not None},
    )
    return found if found.corruptions or found.shifts else None
