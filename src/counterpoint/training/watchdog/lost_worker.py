"""A worker that was killed, in one line: torch's words for it are a hundred."""

import re

from counterpoint.failures import RunFailure

MEMORY = "most often because there was no memory left: fewer --workers or a smaller --batch-size"


class LostWorkerError(RunFailure):
    """A process that read images for this one has died."""


def lost_worker(error: BaseException) -> LostWorkerError | None:
    """Read torch's words; None when they are about something else.

    >>> lost_worker(RuntimeError("DataLoader worker (pid 71) is killed by signal: Killed. "))
    LostWorkerError('data: the worker process 71 was killed (Killed), most often because ...
    >>> lost_worker(RuntimeError("shapes differ"))
    """
    chain = [error]
    while (before := chain[-1].__cause__) is not None:
        chain.append(before)
    said = " ".join(map(str, reversed(chain)))  # the first one knows the signal
    killed = re.search(r"DataLoader worker \(pid (\d+)\) is killed by signal: ([\w ]+)", said)
    if killed:
        pid, signal = killed.groups()
        return LostWorkerError(
            f"data: the worker process {pid} was killed ({signal.strip()}), {MEMORY} take less; "
            "rerun with --resume auto to continue"
        )
    ended = re.search(r"DataLoader worker \(pid\(?s?\)? ([\d, ]+)\) exited unexpectedly", said)
    if ended:
        return LostWorkerError(
            f"data: the worker process {ended[1]} has ended; rerun with --resume auto to continue"
        )
    return None
