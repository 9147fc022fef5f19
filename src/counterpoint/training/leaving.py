"""How a run that was asked to stop is left."""

import os
import sys

from counterpoint.training.launcher import is_first
from counterpoint.training.signals import Stopped


def refuse_parts(stopped: SystemExit | None, folder: str, *, apart: bool) -> None:
    """Leave a run of ranks at a second Ctrl-C: they did not agree to bring it together.

    `apart` says whether each rank has a part of the weights.

    >>> refuse_parts(None, "runs/one", apart=True)  # nobody asked
    """
    if apart and stopped is not None and not isinstance(stopped, Stopped):
        raise KeyboardInterrupt(
            f"stopped at once; {folder} has its checkpoints, and --resume auto continues"
        )


def leave_stopped(stopped: SystemExit | None, where: str, folder: str) -> None:
    """Leave a run that was asked to stop: by exit code 143, or as Ctrl-C does.

    >>> leave_stopped(None, "finished", "runs/one")  # it was not asked to stop
    """
    if isinstance(stopped, Stopped) and stopped.preempted:
        if is_first(os.environ):
            sys.stderr.write(f"counterpoint: {where}; rerun with --resume auto to continue\n")
        raise stopped
    if stopped is not None:
        raise KeyboardInterrupt(
            f"{where}; what was learned is in {folder}; --resume auto continues"
        )
