"""Who the ranks are: their processes and machines, to name one that is gone."""

import hashlib
import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist

DEAD = "ZX"  # states of a process in /proc: a zombie, or dead
WAIT = 0.3  # seconds in which the kernel has buried a process whose connections it has closed


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The process of every rank, and which are on this machine."""

    pids: tuple[int, ...]
    here: tuple[bool, ...]
    rank: int

    def name(self, rank: int) -> str:
        where = "on this machine" if self.here[rank] else "on another machine"
        return f"rank {rank} (process {self.pids[rank]} {where})"

    def gone(self) -> str:
        """Name the ranks of this machine that have ended; empty when all are there."""
        end = time.monotonic() + WAIT
        while True:
            dead = [r for r in range(len(self.pids)) if self.here[r] and not alive(self.pids[r])]
            if dead:
                return f"{', '.join(map(self.name, dead))} has ended"
            if time.monotonic() > end:
                return ""
            time.sleep(0.01)


def alive(pid: int) -> bool:
    """Tell whether a process is there and not just waiting to be buried.

    >>> alive(os.getpid())
    True
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in DEAD


def roll_call(device: torch.device) -> Neighbours:
    """Exchange process numbers and machines between all ranks."""
    own = torch.tensor([os.getpid(), _machine()], device=device)
    found = [torch.zeros_like(own) for _ in range(dist.get_world_size())]
    dist.all_gather(found, own)
    table = torch.stack(found).tolist()
    here = tuple(machine == int(own[1]) for _, machine in table)
    return Neighbours(tuple(pid for pid, _ in table), here, dist.get_rank())


def _machine() -> int:
    """Give a number of this machine, and of the container in which process numbers hold."""
    space = Path("/proc/self/ns/pid")
    inside = str(space.readlink()) if space.is_symlink() else ""
    name = f"{platform.node()} {inside}".encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=7).digest(), "big")
