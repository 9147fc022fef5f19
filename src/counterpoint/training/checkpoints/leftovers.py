"""What a process that was killed has left behind."""

import os
from contextlib import suppress
from pathlib import Path

from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.step_names import purpose_of
from counterpoint.training.checkpoints.writing import delete, only_writer


def tidy(folder: Path) -> None:
    """Delete unfinished and half-deleted checkpoints; only for the only writer.

    A kill between the two renames of a replacement leaves the old one hidden: it is put back.
    """
    for path in [*folder.iterdir()]:
        found = purpose_of(path.name)
        if found is None:
            continue
        target, purpose = folder / found[0], found[1]
        if purpose == "old" and not os.path.lexists(target):
            path.rename(target)
        else:
            with suppress(OSError):  # it only takes up space
                delete(path)


def put_back(folder: Path) -> None:
    """Put back a checkpoint that was to be replaced when its writer was killed, if we may."""
    with suppress(OSError, CheckpointError):
        hidden = [purpose_of(path.name) for path in folder.iterdir()]
        if any(found is not None and found[1] == "old" for found in hidden):
            with only_writer(folder) as alone:
                if alone:
                    tidy(folder)
