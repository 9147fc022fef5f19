"""Around a trial: its folder is its own, its log is in a file, its memory is counted."""

import fcntl
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path

TICK = 5.0  # seconds between two notes of what was spent: what a kill may leave uncounted
LOG = "log.txt"
STATUS, PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@contextmanager
def alone_in(folder: Path) -> Iterator[int]:
    """Wait until nobody else works in a folder; give the number of this attempt.

    When a node dies, its processes may live on for some seconds, and write: the next attempt
    waits for them to end. The lock goes with the process that holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "attempts").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        attempt = len(file.read().splitlines()) + 1
        file.write(f"{attempt}\n")
        file.flush()
        try:
            yield attempt
        finally:  # closing is not enough: a process forked meanwhile has a copy of it
            fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def counted_in(folder: Path, attempt: int) -> Iterator[None]:
    """Write down every few seconds, and at the end, what an attempt has taken so far.

    So that also one that fails, or is killed, has its cost.
    """
    file = folder / f"spent.{attempt}"
    started, used, ended = time.monotonic(), core_seconds(), threading.Event()

    def note() -> None:
        new = file.with_suffix(f".{attempt}.new")
        new.write_text(f"{time.monotonic() - started:.3f} {core_seconds() - used:.3f}\n")
        new.replace(file)

    def go_on() -> None:
        while not ended.wait(TICK):
            note()

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        note()


def spent_in(folder: Path) -> tuple[float, float, int]:
    """Return what all attempts took: seconds, processor seconds, and how many they were.

    >>> spent_in(Path("nothing was tried here"))
    (0.0, 0.0, 1)
    """
    files = [one for one in folder.glob("spent.*") if one.suffix != ".new"]
    both = [tuple(map(float, one.read_text().split())) for one in files]
    many = folder / "attempts"
    attempts = len(many.read_text().splitlines()) if many.exists() else 1
    return sum((one[0] for one in both), 0.0), sum((one[1] for one in both), 0.0), attempts


@contextmanager
def logged_to(file: Path) -> Iterator[None]:
    """Send what is said on the way to a file, an error's trace too: a study has its own table."""
    with file.open("a", buffering=1) as log, redirect_stderr(log):
        try:
            yield
        except Exception:
            traceback.print_exc(file=log)  # a runner keeps its last line only
            raise


def core_seconds() -> float:
    """Return the processor time of this process so far, and of its children that have ended.

    >>> core_seconds() > 0
    True
    """
    return sum(os.times()[:4])  # the fifth is the clock


def forget_peak() -> None:
    """Begin to count the peak of memory anew, where the system can."""
    if PEAK.exists():
        PEAK.write_text("5")


def peak_mb() -> float:
    """Return the peak of memory since `forget_peak`; since the start where that cannot be known."""
    if STATUS.exists():
        lines = STATUS.read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
