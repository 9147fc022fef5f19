"""One writer in a folder: a lock that is held from its first step to its last byte.

The system holds it for the process, not for the workers it has forked, and lets go when it dies.
Where file systems have no locks between machines, the file says who holds it, and its time is
renewed while that process lives.
"""

import fcntl
import json
import os
import platform
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from counterpoint.failures import errno_name

FILE = "run.lock"
RENEWED = 10.0  # seconds between two signs of the process that holds it
STALE = 60.0  # seconds without one after which one of another machine is dead without a look

_HELD: set[Path] = set()
"""Folders of this process: the system would let it lock one twice."""
_CHECKING = threading.Lock()


class LockedError(ValueError):
    """Another process writes to this folder."""


@contextmanager
def only_process(folder: Path, lock: str = FILE) -> Iterator[None]:
    """Be the only process that writes to a folder; `lock` is the name of a file in it."""
    folder = folder.resolve()
    with _CHECKING:
        if folder in _HELD:
            raise LockedError(_refusal(folder, _own()))
        _HELD.add(folder)
    over = threading.Event()
    try:
        descriptor = _taken(folder, lock)
        try:
            threading.Thread(target=_renew, args=(folder / lock, over), daemon=True).start()
            yield
        finally:
            over.set()
            with suppress(OSError):  # a full disk: whoever comes next sees that we have ended
                os.ftruncate(descriptor, 0)
            os.close(descriptor)
    finally:
        _HELD.discard(folder)


def is_held(folder: Path) -> bool:
    """Tell whether a run of this machine works in a folder."""
    folder = folder.resolve()
    if folder in _HELD:
        return True
    if not (folder / FILE).is_file():
        return False
    descriptor = os.open(folder / FILE, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False


def _taken(folder: Path, lock: str) -> int:
    """Open the file and lock it; one that its holder has removed meanwhile is made anew."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        (folder / lock).parent.mkdir(exist_ok=True)  # its holder may remove that, too
        descriptor = os.open(folder / lock, flags, 0o666)
        try:
            _take(descriptor, folder, lock)
            if os.path.samestat(os.fstat(descriptor), (folder / lock).stat()):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _take(descriptor: int, folder: Path, lock: str) -> None:
    """Lock the file and write our name into it; refuse when somebody else holds it."""
    holder = _read(descriptor)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        raise LockedError(_refusal(folder, holder)) from None
    except OSError:  # a file system without locks: what the file says has to do
        locked = False
    else:
        locked = True
    if holder and _lives(holder, descriptor, folder / lock, locked=locked):
        raise LockedError(_refusal(folder, holder))
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(_own()).encode(), 0)
    except OSError as error:
        raise LockedError(
            f"out: {folder / lock} cannot be written ({errno_name(error)}); "
            "give another --out, or make room there"
        ) from error


def _lives(holder: dict[str, Any], descriptor: int, file: Path, *, locked: bool) -> bool:
    """Tell whether the process that is named in the file still works."""
    if holder.get("host") == platform.node():
        same = began(int(holder.get("pid", 0))) == holder.get("began")
        return same and not locked  # its lock would have been in our way
    signed = os.fstat(descriptor).st_mtime
    if _now(file) - signed > STALE:
        return False
    sys.stderr.write(
        f"out     {file.parent} was written to by {holder.get('host')}: is it still?\n"
    )
    end = time.monotonic() + 2 * RENEWED
    while time.monotonic() < end:
        time.sleep(RENEWED / 10)
        if file.stat().st_mtime != signed:
            return True
    return False


def _now(file: Path) -> float:
    """Return the time of the machine that has the disk: clocks of two machines differ."""
    probe = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        probe.unlink(missing_ok=True)


def _renew(file: Path, over: threading.Event) -> None:
    while not over.wait(RENEWED):
        with suppress(OSError):
            os.utime(file)


def _own() -> dict[str, Any]:
    since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    pid = os.getpid()
    return {"host": platform.node(), "pid": pid, "began": began(pid), "since": since}


def began(pid: int) -> str:
    """Return the tick at which a process began: numbers of processes are used again."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def _read(descriptor: int) -> dict[str, Any]:
    try:
        found = json.loads(os.pread(descriptor, 4096, 0) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _refusal(folder: Path, holder: dict[str, Any]) -> str:
    pid, host, since = (holder.get(key, "unknown") for key in ("pid", "host", "since"))
    here = host == platform.node()
    stop = f"stop it (kill {pid})" if here else "stop it there"
    return (
        f"out: process {pid} on {host} writes to {folder} since {since}; wait for it, {stop}, or "
        "give another --out"
    )
