"""Threads that do not keep a run alive, and that the interpreter does not end inside of torch."""

import atexit
import threading
import time
from collections.abc import Callable
from weakref import WeakSet

WAIT = 3.0  # seconds for all of them together; one that asks a dead machine never ends

_started: WeakSet[threading.Thread] = WeakSet()


def start_daemon(work: Callable[[], None], name: str) -> threading.Thread:
    """Run something in a daemon thread.

    >>> done = []
    >>> start_daemon(lambda: done.append(1), "example").join()
    >>> done
    [1]
    """
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    end_before_exit(thread)
    return thread


def end_before_exit(thread: threading.Thread) -> None:
    """Let the interpreter wait a little for a daemon thread before it ends.

    A thread that comes back from C++ after that ends the process with SIGABRT, "terminate called
    without an active exception", and a finished run with a code that means failure.
    """
    _started.add(thread)


@atexit.register
def _wait() -> None:
    end = time.monotonic() + WAIT
    for thread in list(_started):
        thread.join(max(0.0, end - time.monotonic()))
