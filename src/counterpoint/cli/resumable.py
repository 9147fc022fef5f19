"""Commands that are stopped by Ctrl-C or by a scheduler, and resume when they are given again."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

HOW = "run the same command again to resume"
TOLD = 128 + signal.SIGTERM


@contextmanager
def resumable() -> Iterator[None]:
    """End what is inside in an orderly way on SIGTERM too, and say how to resume.

    A scheduler tells a job to end by SIGTERM, which ends a Python process at once and leaves its
    trials behind. Here it raises SystemExit with the code that a shell expects.

    >>> try:
    ...     with resumable():
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt as stop:
    ...     print(stop)
    stopped; run the same command again to resume
    """
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; {HOW}") from None
    except SystemExit as end:
        if end.code == TOLD:
            sys.stderr.write(f"counterpoint: told to stop; {HOW}\n")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(*_: object) -> None:
    """Raise SystemExit, once: a second SIGTERM must not cut the orderly end short."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(TOLD)
