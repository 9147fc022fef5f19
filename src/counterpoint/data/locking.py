"""Of several processes that start at once, one does the work and the others wait for it."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Keep others out while we work; where files cannot be locked, work without."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = place.open("w")
    except OSError:
        yield
        return
    with lock:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:  # closing is not enough: a process forked meanwhile has a copy of it
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_UN)
