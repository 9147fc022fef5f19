"""What a rank says of itself, a few times a second: that it lives, how far it is, what it does."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from counterpoint import pulse
from counterpoint.data import Batches
from counterpoint.data.crew import Hand
from counterpoint.training.watchdog.processes import DISK, alive, children, state, what_is_wrong

PACKAGE = Path(pulse.__file__).parent
EXCHANGE = "torch/distributed/distributed_c10d.py"  # the frames in which ranks wait for each other
BUFFERS = "torch/nn/parallel/distributed.py"  # the innermost one while DDP sends buffers around
BURNING = 0.005  # of a core: what computing still gets beside 20 others; waiting takes far less
LONG = 10  # patiences that a phase gets which burns a core, or compiles


@dataclass(frozen=True, slots=True)
class RankStatus:
    """What is known of a rank."""

    tick: int = 0
    """It changes while the process lives."""
    count: int = 0
    """It changes while the process moves."""
    phase: str = "starting"
    alone: bool = False
    """Whether this phase never waits for another rank."""
    waits: bool = False
    """Whether the rank stands in an exchange with the others."""
    where: str = ""
    """What the system knows: stopped workers, a disk that does not answer, the line of code."""
    trouble: str = ""
    """A worker that owes a batch and has done nothing for too long, in words."""
    asked: int = 0
    """The exit code that a signal has asked for."""
    over: bool = False
    """Whether it has ended, with its last words in `where`; it will say nothing more."""

    def write(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def read(cls, text: bytes) -> "RankStatus":
        record: dict[str, Any] = json.loads(text)
        return cls(**record)


class StatusReporter:
    """Watch this process from a thread beside the one that trains."""

    def __init__(self, *, patience: float, asked: Callable[[], int], computes_here: bool) -> None:
        self.patience, self.asked, self.computes_here = patience, asked, computes_here
        self.thread = threading.get_ident()
        self.native = threading.get_native_id()
        self.clock = time.pthread_getcpuclockid(self.thread)
        self.batches: Batches | None = None
        """What this rank trains on, and who reads it."""
        self.compiling = False
        self.tick = self.count = self.excused = 0
        self.still = self.spent = 0.0
        self.hands: dict[int, tuple[int, float]] = {}
        """By worker: what it has done, and for how long nothing more."""

    def say(self, elapsed: float) -> RankStatus:
        """Return the sign of now, `elapsed` seconds after the last."""
        self.tick += 1
        now, hands = pulse.sign(), self._hands()
        done = now.count + sum(hand.count for hand in hands)
        spent = time.clock_gettime(self.clock)
        burning = self.computes_here and spent - self.spent > BURNING * elapsed
        self.still = 0.0 if done != self.count else self.still + elapsed
        if (burning or self.compiling) and self.still < LONG * self.patience:
            self.excused += 1
        self.count, self.spent = done, spent
        waits, where = self._where()
        return RankStatus(
            tick=self.tick,
            count=done + self.excused,
            phase=now.phase,
            alone=now.alone,
            waits=waits,
            where=where,
            trouble=self._trouble(elapsed),
            asked=self.asked(),
        )

    def _hands(self) -> list[Hand]:
        return [] if self.batches is None else self.batches.crew.hands()

    def _trouble(self, elapsed: float) -> str:
        """Name a worker that has a batch to make and does nothing."""
        for hand in self._hands():
            before, still = self.hands.get(hand.pid, (-1, 0.0))
            still = still + elapsed if hand.busy and hand.count == before else 0.0
            self.hands[hand.pid] = (hand.count, still)
            if still > self.patience:
                wrong = what_is_wrong(hand.pid) or f"process {hand.pid} hangs"
                return f"a worker that reads images has done nothing: {wrong}"
        return ""

    def _where(self) -> tuple[bool, str]:
        """Tell whether the main thread waits for other ranks, and what the system knows."""
        wrong = [words for pid in children() if alive(pid) and (words := what_is_wrong(pid))]
        if state(os.getpid(), self.native) == DISK:
            wrong.append("it waits for a disk that does not answer")
        frame = sys._current_frames().get(self.thread)
        files = list(_files(frame))
        waits = any(file.endswith(EXCHANGE) for file, _ in files)
        waits = waits or any(file.endswith(BUFFERS) for file, _ in files[:1])
        own = next((f"{f[len(str(PACKAGE)) + 1 :]}:{n}" for f, n in files if _ours(f)), "")
        return waits, "; ".join([*wrong, *([f"at {own}"] if own else [])])


def _ours(file: str) -> bool:
    return file.startswith(f"{PACKAGE}/") and not file.endswith("/pulse.py")


def _files(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
