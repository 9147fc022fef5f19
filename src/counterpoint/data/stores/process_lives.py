"""Which processes of a machine are alive, by files that they hold locked.

A process locks a file named after it for as long as it lives; the kernel lets go of the lock
however the process ends. Whatever it left behind carries its name, so anybody can tell.
"""

import fcntl
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

_HELD: dict[tuple[int, str], tuple[str, int]] = {}
"""By process and folder: the name of this process there, and the descriptor of its lock."""
_MAKING: dict[int, threading.Lock] = {}


def own_life(folder: Path) -> str:
    """Return the name of this process in a folder of lives; begin it where it has none.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> name = own_life(folder)
    >>> name == own_life(folder), lives_on(folder, name), lives_on(folder, "1-2")
    (True, True, False)
    """
    key = os.getpid(), str(folder)
    with _MAKING.setdefault(os.getpid(), threading.Lock()):
        held = _HELD.get(key)
        if held is not None and not (folder / held[0]).exists():  # somebody has emptied the cache
            os.close(held[1])
            held = None
        if held is None:
            held = _HELD[key] = _begun(folder)
        return held[0]


def lives_on(folder: Path, name: str) -> bool:
    """Whether the process of a name lives."""
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def bury(folder: Path) -> None:
    """Remove the files of processes that have ended."""
    for path in folder.glob("*"):
        if not lives_on(folder, path.name):
            with suppress(OSError):
                path.unlink()


def _begun(folder: Path) -> tuple[str, int]:
    """Lock a file before it has its name: whoever sees it sees a process that lives."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{os.getpid()}-{time.time_ns()}"
    unfinished = folder.parent / f"{name}.life"
    descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    unfinished.rename(folder / name)
    return name, descriptor


def _forked() -> None:
    """Let go of a parent's locks: a lock is held until its last copy is closed."""
    for _, descriptor in _HELD.values():
        with suppress(OSError):
            os.close(descriptor)
    _HELD.clear()


os.register_at_fork(after_in_child=_forked)
