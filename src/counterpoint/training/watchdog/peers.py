"""Who the ranks are: their processes and machines, to name one that is gone."""

import hashlib
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.distributed as dist

from counterpoint.training.watchdog.processes import STOPPED, alive, cpu_ticks, state, what_is_wrong

RECENT = 1.0  # seconds: on a machine that is full, a process computes now and then
WAIT = 0.3  # seconds in which the kernel has buried a process whose connections it has closed


@dataclass(frozen=True, slots=True)
class Peers:
    """The process of every rank, and which are on this machine."""

    pids: tuple[int, ...]
    here: tuple[bool, ...]
    rank: int
    computed: dict[int, tuple[int, float]] = field(default_factory=dict)
    """By rank of this machine: the time it has computed, and when that changed."""

    def name(self, rank: int) -> str:
        where = "on this machine" if self.here[rank] else "on another machine"
        return f"rank {rank} (process {self.pids[rank]} {where})"

    def state(self, rank: int) -> str:
        """Say what the system knows of a rank that is silent; nothing of another machine."""
        wrong = what_is_wrong(self.pids[rank]) if self.here[rank] else ""
        return f": {wrong}" if wrong else ""

    def computes(self, rank: int) -> bool:
        """Tell whether a rank of this machine uses its processor now, though it says nothing.

        A call that holds Python's lock, such as a compiler, silences all threads of its process.
        """
        if not self.here[rank] or state(self.pids[rank]) in STOPPED:
            return False
        ticks, now = cpu_ticks(self.pids[rank]), time.monotonic()
        before, at = self.computed.get(rank, (ticks, 0.0))
        at = now if ticks != before else at
        self.computed[rank] = (ticks, at)
        return now - at < RECENT

    def gone(self) -> list[int]:
        """List the ranks of this machine that have ended; wait a moment for the first."""
        stop = time.monotonic() + WAIT
        while True:
            dead = [r for r in range(len(self.pids)) if self.here[r] and not alive(self.pids[r])]
            if dead or time.monotonic() > stop:
                return dead
            time.sleep(0.01)

    def stopped_children(self, ranks: Sequence[int]) -> list[int]:
        """List processes of ranks that this one has started and that cannot end by themselves."""
        pids = [self.pids[rank] for rank in ranks if self.here[rank]]
        return [pid for pid in pids if _parent(pid) == os.getpid() and state(pid) != ""]


def roll_call(device: torch.device) -> Peers:
    """Exchange process numbers and machines between all ranks."""
    own = torch.tensor([os.getpid(), _machine()], device=device)
    found = [torch.zeros_like(own) for _ in range(dist.get_world_size())]
    dist.all_gather(found, own)
    table = torch.stack(found).tolist()
    here = tuple(machine == int(own[1]) for _, machine in table)
    return Peers(tuple(pid for pid, _ in table), here, dist.get_rank())


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _machine() -> int:
    """Return a number of this machine, and of the container in which process numbers hold."""
    space = Path("/proc/self/ns/pid")
    inside = str(space.readlink()) if space.is_symlink() else ""
    name = f"{platform.node()} {inside}".encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=7).digest(), "big")
