"""What is known about a run, read from its folder; everything is optional."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from counterpoint.data import description_line
from counterpoint.framework import Method
from counterpoint.framework.method import FIVE
from counterpoint.framework.settings import upgraded
from counterpoint.job_record import JobRecord
from counterpoint.methods import read_method
from counterpoint.report.evaluation_record import Evaluation, read_evaluation
from counterpoint.report.health_record import Epoch, Point, read_health
from counterpoint.report.method_name import method_name
from counterpoint.report.tolerant import finite, mapping, read_object, text_or_none
from counterpoint.run_files import (
    BEFORE,
    ENCODER,
    EVALUATION,
    HEALTH,
    METHOD,
    MODEL,
    RUN,
    metrics_file,
)

WEIGHTS = (ENCODER, MODEL)
KNOWN = {
    "format",
    "job",
    "method",
    "data",
    "image",
    "training",
    "steps",
    "start",
    "bare",
    "versions",
}
"""What run.json has; whatever else it holds is shown under environment."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Findings:
    """One run as a reader may know it."""

    folder: str
    """The folder's own name, without the path to it: reports are passed on."""
    name: str
    """The method in words."""
    method: Method | None
    rows: tuple[tuple[str, str], ...]
    """The five parts as (name, settings); empty without a method.json."""
    fingerprint: str | None
    data: str | None
    """The images in one line."""
    bare: dict[str, Any]
    """The encoder and the weights of a run of zero steps; of any other run nothing."""
    job: JobRecord | None
    """What was asked for; None where an earlier version wrote run.json."""
    image: tuple[int, ...]
    training: dict[str, Any]
    steps: float | None
    versions: dict[str, str]
    other: dict[str, str]
    loss: tuple[Point, ...]
    health: tuple[Epoch, ...]
    evaluation: Evaluation | None
    before: Evaluation | None
    """The same of what it started from, on the same images."""
    weights: dict[str, tuple[int, int]]
    """Of the encoder and of the model: how many numbers, how many bytes."""

    @property
    def last(self) -> Epoch | None:
        """The last epoch whose health is known."""
        return self.health[-1] if self.health else None


def read_findings(folder: Path, *, parts: Mapping[str, type] | None = None) -> Findings:
    """Read what a run's folder holds; `parts` are a user's own part classes, by name."""
    record = read_object(folder / RUN)
    method, rows = _method(folder / METHOD, parts)
    loss, health = read_loss(folder), read_health(folder / HEALTH)
    evaluation = _of_these_weights(read_evaluation(folder / EVALUATION), record)
    if not (record or rows or loss or health or evaluation):
        raise FileNotFoundError(f"run: {folder} has no run.json; counterpoint pretrain writes one")
    made = mapping(record.get("job")) or record  # earlier versions had these fields at the top
    image = tuple(int(n) for n in made.get("image", ()) if finite(n) is not None)
    bare = mapping(record.get("bare"))
    known = "method of your own" if method is None else method_name(method)
    return Findings(
        folder=folder.resolve().name,
        name=text_or_none(bare.get("encoder")) or known,
        bare=bare,
        method=method,
        rows=rows,
        fingerprint=text_or_none(made.get("method")) or (method.fingerprint if method else None),
        data=_line(made.get("data")),
        job=_job(record.get("job")),
        image=image,
        training=upgraded(mapping(made.get("training"))),
        steps=finite(record.get("steps")),
        versions={k: str(v) for k, v in mapping(record.get("versions")).items()},
        other={k: _short(v) for k, v in record.items() if k not in KNOWN},
        loss=loss,
        health=health,
        evaluation=evaluation,
        before=_before(folder / BEFORE, evaluation),
        weights=dict(filter(None, (_weights(folder / file) for file in WEIGHTS))),
    )


def _of_these_weights(found: Evaluation | None, record: dict[str, Any]) -> Evaluation | None:
    """Leave out an evaluation after which the run was trained for longer."""
    steps = finite(record.get("steps"))
    if found is None or found.steps is None or steps is None or found.steps == steps:
        return found
    return None


def _before(file: Path, after: Evaluation | None) -> Evaluation | None:
    """Read how good the start was, where that was measured on the same images."""
    found = read_evaluation(file)
    same = found is not None and after is not None and found.fingerprint == after.fingerprint
    return found if same else None


def _line(data: object) -> str | None:
    """Write the images in one line, as earlier versions kept them."""
    try:
        return description_line(data) if isinstance(data, dict) else text_or_none(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _job(record: object) -> JobRecord | None:
    """Read a job as far as it is whole."""
    try:
        return JobRecord.from_dict(mapping(record))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def read_loss(folder: Path) -> tuple[Point, ...]:
    """Read (step, loss) from the metrics.csv of a run."""
    found = metrics_file(folder)
    if found is None:
        return ()
    with found.open(newline="") as file:
        rows = [(row.get("step"), row.get("loss")) for row in csv.DictReader(file)]
    points = []
    for step, loss in rows:
        try:
            point = (float(step or "nan"), float(loss or "nan"))
        except ValueError:
            continue
        if all(finite(value) is not None for value in point):
            points.append(point)
    return tuple(points)


def _method(
    file: Path, parts: Mapping[str, type] | None
) -> tuple[Method | None, tuple[tuple[str, str], ...]]:
    """Read a method and its rows; of a method with unknown parts, the rows as they are written."""
    if not file.is_file():
        return None, ()
    try:
        method = read_method(file.read_text(), parts=parts)
    except (ValueError, TypeError):
        written = read_object(file)
        return None, tuple((p, _short(written[p])) for p in FIVE if p in written)
    return method, method.rows()


def _short(value: object) -> str:
    """Write a value on one line: a part as Name(setting=value)."""
    if isinstance(value, dict) and "part" in value:
        settings = (f"{k}={_short(v)}" for k, v in value.items() if k != "part")
        return f"{value['part']}({', '.join(settings)})"
    return value if isinstance(value, str) else json.dumps(value)


def _weights(file: Path) -> tuple[str, tuple[int, int]] | None:
    """Count the numbers of a file of weights from its header alone."""
    count = 0
    try:
        with safe_open(file, framework="pt") as stored:
            for key in stored.keys():  # noqa: SIM118 (not a dict)
                size = 1
                for side in stored.get_slice(key).get_shape():
                    size *= side
                count += size
    except (SafetensorError, OSError):
        return None
    return file.stem, (count, file.stat().st_size)
