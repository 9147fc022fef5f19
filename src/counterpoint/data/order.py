"""Which samples a rank sees at a step: a function of seed, epoch and step."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.lanes import Lanes

DRAWN = 1 << 16  # samples that are drawn at once: a few milliseconds, half a megabyte
BLOCK_SHARDS = 8  # with 1,024 lanes 8,192 shards are open, so that a batch of 65,536 is well mixed


@dataclass
class Order:
    """Global batches of an epoch, and this rank's share of each.

    `batch` samples make one global batch, and as many of it come from each lane; the batch is the
    lanes one after the other. Rank r of W takes the r-th of W slices of the lanes, or of the
    batch where there is one lane: so the global batches are the same for any number of ranks,
    all ranks take as many steps, and none reads the shards of another. `together` batches make
    one update: an epoch ends with a whole one, and the rest of it is left out. All there is to
    keep is seed, epoch and step.

    >>> order = Order(10, batch=4, seed=0)
    >>> [share.tolist() for share in order.shares()]
    [[6, 4, 9, 2], [5, 1, 3, 8]]
    >>> [share.tolist() for share in Order(10, batch=4, seed=0, rank=1, ranks=2).shares(start=1)]
    [[3, 8]]
    >>> shards = torch.tensor([5, 5, 5, 5])
    >>> order = Order(20, batch=8, seed=0, lanes=2, block_shards=1, counts=shards)
    >>> [share.tolist() for share in order.shares()]
    [[2, 0, 4, 3, 11, 12, 14, 13], [1, 5, 7, 6, 10, 18, 16, 17]]
    """

    count: int
    batch: int
    seed: int
    rank: int = 0
    ranks: int = 1
    epoch: int = 0
    together: int = 1
    lanes: int = 1
    block_shards: int = BLOCK_SHARDS
    counts: Int64[Tensor, " shard"] | None = None
    """The samples of each shard; without them all are one shard."""

    _lanes: Lanes | None = field(default=None, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return self.count // (self.batch * self.together) * self.together

    @property
    def per_lane(self) -> int:
        """The samples that each lane gives to a step."""
        return self.batch // self.lanes

    @property
    def own_lanes(self) -> Int64[Tensor, " lane"]:
        """The lanes that this rank reads."""
        every = torch.arange(self.lanes)
        return every if self.lanes == 1 else every.tensor_split(self.ranks)[self.rank]

    def set_epoch(self, epoch: int) -> None:
        """Take the order of another epoch; Lightning says which before each pass."""
        self.epoch = epoch

    def in_lanes(self) -> Lanes:
        """Return the lanes of the epoch."""
        known = self._lanes
        if known is None or known.epoch != self.epoch:
            counts = torch.tensor([self.count]) if self.counts is None else self.counts
            known = Lanes(counts, self.lanes, self.block_shards, self.seed, self.epoch)
            self._lanes = known
        return known

    def shares(self, *, start: int = 0) -> Iterator[Int64[Tensor, " own"]]:
        """Return this rank's samples, step by step, from a step on."""
        lanes, places = self.own_lanes, torch.arange(self.per_lane)
        if self.lanes == 1:
            places = places.tensor_split(self.ranks)[self.rank]
        steps = max(1, DRAWN // max(1, len(lanes) * len(places)))
        for first in range(start, len(self), steps):
            some = torch.arange(first, min(first + steps, len(self)))
            at = (some[:, None] * self.per_lane + places).flatten()
            drawn = self.in_lanes().samples(lanes, at).view(len(lanes), len(some), len(places))
            yield from drawn.transpose(0, 1).flatten(1)

    def whole(self, step: int) -> Int64[Tensor, " batch"]:
        """Return the samples of all ranks at a step, rank after rank.

        >>> Order(10, batch=4, seed=0).whole(1)
        tensor([5, 1, 3, 8])
        """
        places = torch.arange(step * self.per_lane, (step + 1) * self.per_lane)
        return self.in_lanes().samples(torch.arange(self.lanes), places).flatten()

    def rest(self) -> Int64[Tensor, " left"]:
        """Return the samples that the epoch leaves out: the tails of all lanes."""
        lanes = self.in_lanes()
        places = torch.arange(len(self) * self.per_lane, lanes.length)
        tails = lanes.samples(torch.arange(self.lanes), places).flatten()
        return torch.cat([tails, lanes.outside()])


def share_sizes(batch: int, *, lanes: int, ranks: int) -> tuple[int, ...]:
    """Return how many samples of a global batch each rank takes: whole lanes, if there are several.

    >>> share_sizes(16, lanes=8, ranks=3), share_sizes(16, lanes=1, ranks=3)
    ((6, 6, 4), (6, 5, 5))
    """
    parts = batch if lanes == 1 else lanes
    each, more = divmod(parts, ranks)
    one = batch // parts
    return ((each + 1) * one,) * more + (each * one,) * (ranks - more)
