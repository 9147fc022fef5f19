"""What the workers of a loader are doing, in memory that they share with the process that trains.

A loader that waits for a worker says nothing of it: a worker that was stopped, or that hangs on a
disk, looks like one that is slow. Here each worker counts the pictures it has read, and says
whether it has a batch to make.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.utils.data import get_worker_info

from counterpoint import pulse

PID, COUNT, BUSY = range(3)  # the columns of the table


@dataclass(frozen=True, slots=True)
class Hand:
    """One worker: its process, how much it has done, and whether it has something to do."""

    pid: int
    count: int
    busy: bool


@dataclass(eq=False)
class Crew:
    """The workers of a loader.

    >>> Crew(2).hands()
    []
    """

    workers: int
    table: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.table = torch.zeros(self.workers, 3, dtype=torch.int64).share_memory_()

    def attend(self, worker: int) -> None:
        """Begin in a worker: count its beats. A signal to it is its own affair."""
        signal.set_wakeup_fd(-1)
        row = self.table[worker].numpy()
        row[PID] = os.getpid()

        def count() -> None:
            row[COUNT] += 1

        pulse.listen(count)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Say that this worker has a batch to make; nothing in the process that trains."""
        here = get_worker_info()
        if here is None:
            yield
            return
        self.table[here.id, BUSY] = 1
        pulse.beat()
        try:
            yield
        finally:
            pulse.beat()
            self.table[here.id, BUSY] = 0

    def hands(self) -> list[Hand]:
        """List the workers that have begun."""
        rows = self.table.tolist()
        return [Hand(pid, count, bool(busy)) for pid, count, busy in rows if pid]
