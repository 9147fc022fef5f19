"""What ranks say to each other about a checkpoint: numbers, words, and the bytes of tensors."""

from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

HOST = torch.device("cpu")
AT_ONCE = 64 << 20  # bytes that are sent together, and are on a device for that


@dataclass(frozen=True, slots=True)
class Talk:
    """The ranks of this job, or a process alone; all ranks must call the same in the same order.

    >>> alone = Talk()
    >>> alone.failure(""), alone.tell(b"step")
    ('', b'step')
    """

    rank: int = 0
    ranks: int = 1
    device: torch.device = HOST

    @classmethod
    def of_job(cls, device: torch.device) -> "Talk":
        """Return the ranks of the process group, if there is one."""
        if not dist.is_available() or not dist.is_initialized():
            return cls(device=device)
        return cls(dist.get_rank(), dist.get_world_size(), device)

    def number(self, value: int, *, src: int = 0) -> int:
        """Return the number that one rank has, on all of them."""
        if self.ranks == 1:
            return value
        told = torch.tensor(value, device=self.device)
        dist.broadcast(told, src=src)
        return int(told)

    def tell(self, words: bytes, *, src: int = 0) -> bytes:
        """Return the words of one rank, on all of them."""
        if self.ranks == 1:
            return words
        length = self.number(len(words), src=src)
        room = torch.empty(length, dtype=torch.uint8)
        if self.rank == src and length:
            room = torch.frombuffer(bytearray(words), dtype=torch.uint8)
        self.send(room, src=src)
        return room.numpy().tobytes()

    def failure(self, why: str) -> str:
        """Return why the first rank that failed did; empty where none has."""
        if self.ranks == 1:
            return why
        first = torch.tensor(self.rank if why else self.ranks, device=self.device)
        dist.all_reduce(first, op=dist.ReduceOp.MIN)
        rank = int(first)
        if rank == self.ranks:
            return ""
        said = self.tell(why.encode(), src=rank).decode()
        return said if rank == 0 else f"rank {rank}: {said}"

    def send(self, tensor: Tensor, *, src: int) -> None:
        """Fill a contiguous tensor of the host with what one rank has in it."""
        if self.ranks == 1 or tensor.nbytes == 0:
            return
        for part in tensor.reshape(-1).view(torch.uint8).split(AT_ONCE):
            there = part.to(self.device)
            dist.broadcast(there, src=src)
            if there is not part:
                part.copy_(there)
