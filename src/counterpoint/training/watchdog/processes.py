"""Processes of this machine as the system sees them: running, stopped, waiting for a disk."""

import multiprocessing
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Never

DEAD = "ZX"  # states in /proc: a zombie, or dead
STOPPED = "Tt"  # by a signal, or by a debugger
DISK = "D"  # in a call that nothing interrupts, most often of a disk


def state(pid: int, thread: int | None = None) -> str:
    """Return the letter of a process, or of one of its threads; empty when there is none.

    >>> state(os.getpid()) in "RS", state(2**22 + 1)
    (True, '')
    """
    task = "" if thread is None else f"task/{thread}/"
    with suppress(OSError):
        return Path(f"/proc/{pid}/{task}stat").read_text().rpartition(")")[2].split()[0]
    return ""


def cpu_ticks(pid: int) -> int:
    """Return the time that a process has computed, in ticks of the system; 0 when there is none.

    >>> cpu_ticks(os.getpid()) >= 0, cpu_ticks(2**22 + 1)
    (True, 0)
    """
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return 0


def alive(pid: int) -> bool:
    """Tell whether a process is there and not just waiting to be buried.

    >>> alive(os.getpid())
    True
    """
    found = state(pid)
    return found != "" and found not in DEAD


def what_is_wrong(pid: int) -> str:
    """Say in words why a process does nothing; empty when the system does not know.

    >>> what_is_wrong(os.getpid())
    ''
    """
    found = state(pid)
    if found == "" or found in DEAD:
        return f"process {pid} has ended"
    if found in STOPPED:
        return f"process {pid} is stopped (kill -CONT {pid} lets it run again)"
    if found == DISK:
        return f"process {pid} waits for a disk that does not answer"
    return ""


def children() -> list[int]:
    """List the processes that this one has started and that are still there."""
    found: list[int] = []
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def leave(words: str, code: int, *, after: float = 0.0) -> Never:
    """Say something and end this process, whatever its main thread waits for.

    Workers end with it: one that is stopped would be there for ever.
    """
    time.sleep(after)
    if words:
        sys.stderr.write(f"counterpoint: {words}\n")
    with suppress(Exception):  # a closed stream must not keep the process
        sys.stderr.flush()
    for worker in multiprocessing.active_children():
        if worker.pid is not None:
            end(worker.pid)
    os._exit(code)


def end(pid: int) -> None:
    """Kill a process of ours, also one that is stopped."""
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
