"""Whether a checkpoint fits on the disk, asked before a byte is written."""

import os
from pathlib import Path

from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError

SLACK = 1 << 20
"""Bytes for headers, names and blocks that are not full."""


def free_bytes(folder: Path) -> int | None:
    """Return the bytes that are free for us; None where the file system does not say."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize if found.f_blocks else None


def require_space(folder: Path, size: int, *, otherwise: str) -> None:
    """Refuse to start on a checkpoint that cannot be finished."""
    needs, free = size + SLACK, free_bytes(folder)
    if free is not None and free < needs:
        raise CheckpointError(
            f"checkpoint: {folder} has {free} bytes free, needs {needs}; {otherwise}; "
            "free some space or choose another folder"
        )
