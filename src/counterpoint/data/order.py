"""Which samples a rank sees at a step: a function of seed, epoch and step."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.framework.permutation import Permutation

BLOCK = 1 << 16  # samples that are drawn at once: a few milliseconds, half a megabyte


@dataclass
class Order:
    """Global batches of an epoch, and this rank's share of each.

    `batch` samples make one global batch; rank r of W takes the r-th of W slices of it, so that
    the global batches are the same for any number of ranks, and all ranks take as many steps.
    `together` batches make one update: an epoch ends with a whole one, and the rest of it is left
    out. All there is to keep is seed, epoch and step.

    >>> order = Order(10, batch=4, seed=0)
    >>> [share.tolist() for share in order.shares()]
    [[6, 4, 9, 2], [5, 1, 3, 8]]
    >>> [share.tolist() for share in Order(10, batch=4, seed=0, rank=1, ranks=2).shares(start=1)]
    [[3, 8]]
    """

    count: int
    batch: int
    seed: int
    rank: int = 0
    ranks: int = 1
    epoch: int = 0
    together: int = 1

    def __len__(self) -> int:
        return self.count // (self.batch * self.together) * self.together

    def set_epoch(self, epoch: int) -> None:
        """Take the order of another epoch; Lightning says which before each pass."""
        self.epoch = epoch

    def shares(self, *, start: int = 0) -> Iterator[Int64[Tensor, " own"]]:
        """Return this rank's samples, step by step, from a step on."""
        own = torch.arange(self.batch).tensor_split(self.ranks)[self.rank]
        permutation = Permutation(self.count, self.seed, self.epoch)
        steps = max(1, BLOCK // max(1, len(own)))
        for first in range(start, len(self), steps):
            some = torch.arange(first, min(first + steps, len(self)))
            places = some[:, None] * self.batch + own
            yield from permutation(places.flatten()).view(places.shape)

    def whole(self, step: int) -> Int64[Tensor, " batch"]:
        """Return the samples of all ranks at a step, rank after rank.

        >>> Order(10, batch=4, seed=0).whole(1)
        tensor([5, 1, 3, 8])
        """
        places = torch.arange(step * self.batch, (step + 1) * self.batch)
        return Permutation(self.count, self.seed, self.epoch)(places)

    def rest(self) -> Int64[Tensor, " left"]:
        """Return the samples that the epoch leaves out."""
        left = torch.arange(len(self) * self.batch, self.count)
        return Permutation(self.count, self.seed, self.epoch)(left)
