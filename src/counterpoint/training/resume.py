"""Where a run begins: anew, or from the newest checkpoint that is whole."""

import os
import sys
from pathlib import Path
from typing import Any

import torch

from counterpoint.catalogue import RESUME
from counterpoint.data import fingerprint_difference
from counterpoint.framework.settings import upgraded
from counterpoint.run_files import CHECKPOINTS
from counterpoint.spelling import did_you_mean
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.clipping import clipping_identity
from counterpoint.training.launcher import is_first
from counterpoint.training.run_store.run_address import run_place

CLIPPING = clipping_identity({}).keys()


def start_from(folder: Path, resume: str, identity: dict[str, Any]) -> Path | None:
    """Choose the checkpoint that a run resumes from; None to begin.

    `resume` is "never", "auto" for the newest one that is whole, or a checkpoint's folder. A
    checkpoint of another method, data set or recipe is refused, by its small files alone: the
    tensors are read and hashed once, when they are loaded (`SafeCheckpointIO`), which is when the
    newest one is chosen for all ranks.
    """
    checkpoints = Checkpoints(folder / CHECKPOINTS)
    if resume == "never":
        found = max((folder / CHECKPOINTS).glob("step-*"), default=None)
        if found is not None:
            raise ValueError(
                f"resume: {run_place(folder)} already holds a run, at {found.name}; --resume auto "
                "continues it, another --out starts a new one"
            )
        return None
    if resume != "auto" and not Path(resume).is_dir():
        near = did_you_mean(resume, RESUME) or "needs auto, never or a checkpoint's folder"
        raise ValueError(f"resume: got {resume!r}, and there is no such folder; {near}")
    if resume == "auto":
        path, state = checkpoints.newest_described()
    else:
        path = Path(resume)
        state = checkpoints.describe(path)
    if path is None:
        return None
    kept = state["counterpoint"]
    _same(path, kept["identity"], identity)
    _say_versions(path, kept.get("torch"))
    return checkpoints.folder if resume == "auto" else path


def _say_versions(path: Path, was: str | None) -> None:
    """Warn that torch changed: only the same version resumes bit for bit."""
    now = str(torch.__version__)
    if was is not None and was != now and is_first(os.environ):
        sys.stderr.write(
            f"resume  {path.name} was written with torch {was}, this is {now}: it resumes, but "
            "not bit for bit\n"
        )


def _same(path: Path, was: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to resume something else, and say what differs."""
    # Earlier versions did not keep how gradients were clipped: theirs may go on either way.
    unknown = {} if CLIPPING & was.keys() else {key: now[key] for key in CLIPPING & now.keys()}
    before = _flat({**was, **unknown, "training": upgraded(was.get("training", {}))})
    after = _flat(now)
    differ = [
        _said(key, before.get(key), after.get(key))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]
    if not differ:
        return
    do = "Give the settings it was begun with, or another --out"
    if all(said.startswith(("steps ", "training.epochs ")) for said in differ):
        do = (
            "The rate of a run falls towards its last step, so it cannot be made longer or "
            "shorter. Start a new one with another --out; --method FOLDER trains one that ended "
            "for longer, from its weights"
        )
    if any("an earlier version" in said for said in differ):
        do = "End it with the version that began it, or begin a new run with another --out"
    raise ValueError(f"resume: {path.name} belongs to a different run: {'; '.join(differ)}. {do}")


def _said(key: str, was: Any, now: Any) -> str:
    if key == "data" and isinstance(was, str) and isinstance(now, str):
        return f"the data is not the same: {fingerprint_difference(was, now)}"
    return f"{key} was {was} and is {now}"


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
