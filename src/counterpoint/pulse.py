"""The pulse of this process: how far it has come, and what it is doing now.

A thread that beats says that a process lives. What a run needs to know is that it moves: so
whatever does a bounded piece of work calls `beat` when it is done (a picture, a batch, a
megabyte), and the watchdog of training (`training/watchdog/`) asks for the count. A callback of
your own that works for minutes between two steps should call it too.

>>> before = sign()
>>> with phase("counting sheep"):
...     beat()
...     sign().phase
'counting sheep'
>>> sign().count > before.count
True
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """How far a process is."""

    count: int
    """It changes with every piece of work that is done."""
    phase: str
    """What is being done."""
    alone: bool
    """Whether this phase never waits for another rank."""


@dataclass(slots=True)
class _Pulse:
    count: int = 0
    phases: tuple[tuple[str, bool], ...] = (("starting", False),)
    listener: Callable[[], None] | None = None


_PULSE = _Pulse()


def beat() -> None:
    """Say that a piece of work is done."""
    _PULSE.count += 1
    if _PULSE.listener is not None:
        _PULSE.listener()


def enter(what: str) -> None:
    """Say what is done from now on, in the loop of training: it may wait for other ranks."""
    _PULSE.phases = ((what, False), *_PULSE.phases[1:])
    beat()


@contextmanager
def phase(what: str, *, alone: bool = False) -> Iterator[None]:
    """Say what is done inside of this block; `alone` when it never waits for another rank."""
    before = _PULSE.phases
    _PULSE.phases = (*before, (what, alone))
    beat()
    try:
        yield
    finally:
        _PULSE.phases = before
        beat()


def sign() -> Sign:
    """Return the count and the innermost phase."""
    return Sign(_PULSE.count, *_PULSE.phases[-1])


def listen(listener: Callable[[], None] | None) -> None:
    """Pass every beat of this process on: how a worker tells the process that reads from it."""
    _PULSE.listener = listener
