"""The names of the files in the folder of a run."""

from pathlib import Path

RUN = "run.json"
METHOD = "method.json"
MODEL = "model.safetensors"
ENCODER = "encoder.safetensors"
METRICS = "metrics.csv"
HEALTH = "health.jsonl"
RECEIPTS = "receipts.jsonl"
QUARANTINE = "quarantine.jsonl"
EVALUATION = "evaluation.json"
START = "start.safetensors"
BEFORE = "before.json"
CHECKPOINTS = "checkpoints"


def metrics_file(folder: Path) -> Path | None:
    """Find the losses of a run: in its folder, or below, where earlier versions wrote them.

    Those of another run that lies below are not its own.
    """
    if (folder / METRICS).is_file():
        return folder / METRICS
    found = [file for file in folder.rglob(METRICS) if not _another(file.parent, folder)]
    return max(found, key=lambda file: file.stat().st_mtime, default=None)


def _another(place: Path, folder: Path) -> bool:
    """Whether a folder is of another run below this one."""
    between = [one for one in (place, *place.parents) if folder in one.parents]
    return any((one / name).is_file() for one in between for name in (RUN, METHOD))
