"""The order in lanes: an epoch over shards of which only a few are open at a time."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.open_blocks import OpenBlocks
from counterpoint.framework.permutation import SHARDS, Permutation, Permutations

ShardNumbers = Int64[Tensor, " shard"]
PerLane = Int64[Tensor, " lane"]


@dataclass(frozen=True, eq=False)
class Lanes:
    r"""Where each lane finds its samples in an epoch.

    The shards stand in a line, permuted by seed and epoch. The line is cut into L lanes of
    $n = \lfloor N / L \rfloor$ samples, wherever the cuts fall; the N - L n samples at its end are
    in no lane. A block is K consecutive shards of a lane, from its first on. In a block the
    shards are in ascending order, and its samples are permuted under the key of
    (seed, epoch, lane, block).

    So it is arithmetic from a lane and a place in it to a sample, and what is held is 24 bytes a
    shard. One lane with all shards in its block is `Permutation(N, seed, epoch)`.

    >>> lanes = Lanes(torch.tensor([3, 3, 3, 3]), lanes=2, block_shards=2, seed=1, epoch=0)
    >>> lanes.line.tolist()
    [0, 3, 2, 1]
    >>> lanes.samples(torch.tensor([0, 1]), torch.arange(6)).tolist()
    [[2, 10, 9, 0, 11, 1], [6, 4, 5, 7, 3, 8]]
    """

    counts: ShardNumbers
    lanes: int
    block_shards: int
    seed: int
    epoch: int

    @property
    def in_one_block(self) -> bool:
        """Whether all samples are permuted together."""
        return self.lanes == 1 and self.block_shards >= len(self.counts)

    @cached_property
    def line(self) -> ShardNumbers:
        """The shards in the order of the epoch."""
        every = torch.arange(len(self.counts))
        if self.in_one_block:  # where they are in ascending order again
            return every
        return Permutation(len(every), self.seed, self.epoch, SHARDS)(every)

    @cached_property
    def ends(self) -> ShardNumbers:
        """Where each shard of the line ends, in samples."""
        return self.counts[self.line].cumsum(0)

    @cached_property
    def starts(self) -> ShardNumbers:
        """The number of the first sample of each shard."""
        return self.counts.cumsum(0) - self.counts

    @cached_property
    def length(self) -> int:
        """The samples of a lane."""
        return int(self.ends[-1]) // self.lanes

    @cached_property
    def cuts(self) -> Int64[Tensor, "2 lane"]:
        """The places in the line of each lane's first and last shard."""
        begins = torch.arange(self.lanes) * self.length
        return self._shard_at(torch.stack([begins, begins + self.length - 1]))

    def blocks(self, lanes: PerLane, places: PerLane) -> PerLane:
        """Return the number of the block that holds a place of a lane, for several of them."""
        shard = self._shard_at(lanes * self.length + places)
        return (shard - self.cuts[0, lanes]) // self.block_shards

    def count_blocks(self, lanes: PerLane) -> PerLane:
        """Return how many blocks some lanes have."""
        return (self.cuts[1, lanes] - self.cuts[0, lanes]) // self.block_shards + 1

    def samples(
        self, lanes: PerLane, places: Int64[Tensor, " place"]
    ) -> Int64[Tensor, "lane place"]:
        """Return the samples at the same places, in ascending order, of some lanes."""
        if not places.numel():
            return torch.empty(len(lanes), 0, dtype=torch.int64)
        if self.in_one_block:  # the same as below, four times faster
            return Permutation(self.length, self.seed, self.epoch)(places)[None]
        return self._samples(lanes, places)

    def _samples(
        self, lanes: PerLane, places: Int64[Tensor, " place"]
    ) -> Int64[Tensor, "lane place"]:
        first, last = (self.blocks(lanes, place.expand(len(lanes))) for place in places[[0, -1]])
        many = last - first + 1
        group_lanes = lanes.repeat_interleave(many)
        base = many.cumsum(0) - many
        group_blocks = torch.arange(int(many.sum())) + (first - base).repeat_interleave(many)
        opened = self.open(group_lanes, group_blocks)
        in_line = lanes[:, None] * self.length + places
        shards = self._shard_at(in_line)
        blocks = (shards - self.cuts[0, lanes, None]) // self.block_shards
        groups = (blocks - first[:, None] + base[:, None]).flatten()
        keyed = Permutations(
            opened.sizes, group_lanes, group_blocks, seed=self.seed, epoch=self.epoch
        )
        mixed = keyed(in_line.flatten() - opened.begins[groups], groups)
        return opened.samples(groups, mixed).view(in_line.shape)

    def open(self, lanes: PerLane, blocks: PerLane) -> OpenBlocks:
        """Say what some blocks hold, each given by its lane and its number there."""
        first = self.cuts[0, lanes] + blocks * self.block_shards
        many = torch.minimum(first + self.block_shards - 1, self.cuts[1, lanes]) - first + 1
        group = torch.arange(len(lanes)).repeat_interleave(many)
        nth = torch.arange(len(group)) - (many.cumsum(0) - many)[group]
        place = first[group] + nth
        shards, ends = self.line[place], self.ends[place]
        begins = ends - self.counts[shards]
        lane = lanes[group] * self.length
        return OpenBlocks.of(
            groups=group,
            shards=shards,
            firsts=self.starts[shards] + (lane - begins).clamp(min=0),
            sizes=torch.minimum(ends, lane + self.length) - torch.maximum(begins, lane),
            begins=torch.maximum(begins, lane)[many.cumsum(0) - many],
        )

    def outside(self) -> Int64[Tensor, " left"]:
        """Return the samples at the end of the line that are in no lane."""
        places = torch.arange(self.lanes * self.length, int(self.ends[-1]))
        which = self._shard_at(places)
        shards = self.line[which]
        return self.starts[shards] + places - self.ends[which] + self.counts[shards]

    def _shard_at(self, places: Int64[Tensor, "..."]) -> Int64[Tensor, "..."]:
        """Return which shard of the line holds a place of it."""
        return torch.searchsorted(self.ends, places, right=True)
