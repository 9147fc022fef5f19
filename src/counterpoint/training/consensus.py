"""What all ranks have to decide alike, in one exchange of a few integers per step."""

from dataclasses import dataclass

import torch
import torch.distributed as dist
from jaxtyping import Int64

from counterpoint.framework import World


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a rank has seen or wants in this step; summed over ranks, what all of them know."""

    broken: int = 0
    """A loss or a gradient that is not finite."""
    preempted: int = 0
    interrupted: int = 0
    save: int = 0
    """A checkpoint is due; rank 0 has the clock."""
    bad: int = 0
    """Files that could not be read."""

    @property
    def stop(self) -> bool:
        return self.preempted + self.interrupted > 0


def summed(numbers: torch.Tensor, world: World) -> torch.Tensor:
    """Sum integers over ranks, exactly (and modulo 2^64)."""
    total = numbers.clone()
    if world.size > 1:
        dist.all_reduce(total)
    return total


def collected(
    own: Int64[torch.Tensor, "own column"], world: World
) -> Int64[torch.Tensor, "all column"]:
    """Put the rows of all ranks below each other; each may have another number of them.

    A sum of integers is exact, on devices without float64 too.

    >>> from counterpoint.framework import ALONE
    >>> collected(torch.tensor([[7, 1]]), ALONE)
    tensor([[7, 1]])
    """
    if world.size == 1:
        return own
    sizes = own.new_zeros(world.size)
    sizes[world.rank] = len(own)
    counts: list[int] = summed(sizes, world).tolist()
    before = sum(counts[: world.rank])
    every = own.new_zeros(sum(counts), own.shape[1])
    every[before : before + len(own)] = own
    return summed(every, world)
