"""Where a run begins: anew, or from the newest checkpoint that is whole."""

from pathlib import Path
from typing import Any

from counterpoint.training.checkpoints.folder import Checkpoints

FOLDER = "checkpoints"


def start_from(folder: Path, resume: str, identity: dict[str, Any]) -> Path | None:
    """Choose the checkpoint that a run goes on from; None to begin.

    `resume` is "never", "auto" for the newest one that is whole, or a checkpoint's folder. A
    checkpoint of another method, data set or recipe is refused.
    """
    checkpoints = Checkpoints(folder / FOLDER)
    if resume == "never":
        found = max((folder / FOLDER).glob("step-*"), default=None)
        if found is not None:
            raise ValueError(
                f"resume: {folder} already holds a run, at {found.name}; --resume auto goes on "
                "with it, another --out begins a new one"
            )
        return None
    path = checkpoints.newest() if resume == "auto" else Path(resume)
    if path is not None:
        _same(path, checkpoints.load(path)["counterpoint"]["identity"], identity)
    return path


def _same(path: Path, was: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to go on with something else, and say what differs."""
    old, new = _flat(was), _flat(now)
    differ = [
        f"{key} was {old.get(key)} and is {new.get(key)}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    if differ:
        raise ValueError(
            f"resume: {path.name} is of another run: {'; '.join(differ)}. Give the settings it "
            "was begun with, or another --out"
        )


def _flat(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name nested settings by their path, and forget the difference of tuple and list.

    >>> _flat({"data": "x", "training": {"betas": (0.9, 0.999)}})
    {'data': 'x', 'training.betas': [0.9, 0.999]}
    """
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = list(value) if isinstance(value, tuple) else value
    return flat
