"""A rank as a process that ends with the one that started it.

`python -P -m counterpoint.launch.rank_process PARENT COMMAND ...` becomes that command. Where a
worker of Ray's is killed, what it has started would live on, hold the lock of the run and be in
the way of its successor.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def end_with(parent: int) -> None:
    """Ask the system to kill this process when its parent ends; only Linux can."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before we could ask
        os._exit(1)


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 (no shell; the wish outlives this)
