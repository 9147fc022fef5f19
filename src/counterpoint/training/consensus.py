"""What all ranks have to decide alike, in one exchange of a few integers per step."""

from dataclasses import astuple, dataclass

import torch
import torch.distributed as dist

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


def agreed(own: Wishes, world: World, device: torch.device) -> Wishes:
    """Sum the wishes of all ranks; a rank alone agrees with itself.

    >>> from counterpoint.framework import ALONE
    >>> agreed(Wishes(save=1), ALONE, torch.device("cpu")).save
    1
    """
    return Wishes(*summed(torch.tensor(astuple(own), device=device), world).tolist())


def summed(numbers: torch.Tensor, world: World) -> torch.Tensor:
    """Sum integers over ranks, exactly (and modulo 2^64)."""
    total = numbers.clone()
    if world.size > 1:
        dist.all_reduce(total)
    return total
