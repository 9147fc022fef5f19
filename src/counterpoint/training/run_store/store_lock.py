"""One run at an address: an object that says who writes there, renewed while that process lives.

A store has no locks, but whoever wrote an object last can be read. So a run writes its name, waits
and reads it again; it looks once more before every checkpoint is made valid. A holder that has not
renewed its name for a minute, by the clock of the store, is dead; so is one of this machine whose
process is gone.
"""

import json
import os
import platform
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from counterpoint.data.stores.retry import Patience
from counterpoint.failures import RunFailure
from counterpoint.folder_lock import LockedError, began
from counterpoint.training.run_store.object_place import ObjectPlace, Trouble, say_of_store
from counterpoint.training.run_store.store_plan import LOCK

RENEWED = 10.0  # seconds between two signs of life
STALE = 60.0  # seconds without one after which a holder is dead
ONCE = Patience(request=RENEWED, in_all=RENEWED)
LAST = RENEWED + 2  # seconds that the end of a run waits for a sign that is on its way
SETTLED = 1.0  # seconds after which two that came at once see each other


class TakenOverError(RunFailure):
    """Another run writes to the address of this one."""


@dataclass(eq=False)
class StoreLock:
    """The right to write to an address."""

    place: ObjectPlace
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    taken: str = ""
    """Who has taken it from us."""

    def check(self) -> None:
        """Refuse to go on where another run has taken over."""
        if not self.taken:
            found = read_lock(self.place)
            self.taken = "" if found.get("token", self.token) == self.token else who(found)
        if self.taken:
            raise TakenOverError(
                f"out: {self.place.address} was taken over by {self.taken}; this run stops, and "
                "writes nothing more to the store"
            )

    def write(self) -> None:
        """Write our name, or renew it."""
        self.place.write(LOCK, json.dumps({**_own(), "token": self.token}).encode())

    def renew(self, over: threading.Event) -> None:
        """Write our name again and again; where the store does not answer, nobody else can write.

        This is a thread of its own; what it finds is raised by the next `check`.
        """
        impatient = replace(self, place=replace(self.place, patience=ONCE, trouble=Trouble()))
        while not over.wait(RENEWED):
            with suppress(Exception):
                impatient.check()
                if not over.is_set():
                    impatient.write()
            self.taken = self.taken or impatient.taken


@contextmanager
def only_writer_there(place: ObjectPlace) -> Iterator[StoreLock]:
    """Be the only run that writes to an address."""
    _wait_for_the_dead(place)
    lock = StoreLock(place)
    lock.write()
    time.sleep(SETTLED)
    found = read_lock(place)
    if found.get("token") != lock.token:
        raise LockedError(_refusal(place, found))
    over = threading.Event()
    renewing = threading.Thread(target=lock.renew, args=(over,), daemon=True)
    renewing.start()
    try:
        yield lock
    finally:
        over.set()
        renewing.join(LAST)  # a write on its way would be taken for a sign of life
        with suppress(Exception):  # whoever comes next sees that we have ended
            if read_lock(place).get("token") == lock.token:
                place.delete(LOCK)


def read_lock(place: ObjectPlace) -> dict[str, Any]:
    """Read who writes to an address; nothing where nobody does."""
    try:
        found = json.loads(place.read(LOCK))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def who(holder: dict[str, Any]) -> str:
    """Name the holder of a lock in words."""
    pid, host, since = (holder.get(key, "unknown") for key in ("pid", "host", "since"))
    return f"process {pid} on {host}, since {since}"


def _wait_for_the_dead(place: ObjectPlace) -> None:
    """Refuse when somebody writes there; one that gave no sign for a while does not any more."""
    first = read_lock(place)
    if not first or _gone(first):
        return
    signed = place.written_at(LOCK)
    left = STALE - (_now(place) - signed)
    if left > 0:
        say_of_store(
            f"{place.address}: {who(first)} has written there; waiting {left:.0f} s for a sign"
        )
    end = time.monotonic() + left
    while time.monotonic() < end:
        time.sleep(min(RENEWED / 4, max(end - time.monotonic(), 0.0)))
        found = read_lock(place)
        if not found:
            return
        if found.get("token") != first.get("token") or place.written_at(LOCK) != signed:
            raise LockedError(_refusal(place, found))


def _gone(holder: dict[str, Any]) -> bool:
    """Tell whether the holder was a process of this machine that is not there any more."""
    if holder.get("machine") != _machine():
        return False
    return began(int(holder.get("pid", 0))) != holder.get("began")


def _now(place: ObjectPlace) -> float:
    """Return the time of the store: clocks of two machines differ."""
    probe = f".{LOCK}.{secrets.token_hex(4)}"
    place.write(probe, b"")
    try:
        return place.written_at(probe)
    finally:
        place.delete(probe)


def _own() -> dict[str, Any]:
    pid = os.getpid()
    return {
        "host": platform.node(),
        "pid": pid,
        "began": began(pid),
        "machine": _machine(),
        "since": _SINCE,
    }


def _machine() -> str:
    """Name this machine and its processes: containers may share a name, and numbers."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    return platform.node()


_SINCE = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())


def _refusal(place: ObjectPlace, holder: dict[str, Any]) -> str:
    stop = f"stop it (kill {holder.get('pid')})" if holder.get("machine") == _machine() else ""
    return (
        f"out: another run writes to {place.address} ({who(holder)}); wait for it, "
        f"{stop or 'stop it there'}, or give another --out"
    )
