"""Which image goes into which shard: a keyed permutation, cut into equal lengths."""

from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.framework.permutation import Permutation

DIGITS = 5  # of a shard's number, at least


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """How the images of one split are dealt to shards.

    Shard s of S holds the places from floor(N s / S) to floor(N (s + 1) / S) of a permutation of
    all N images, so that counts differ by at most one and every shard is a fair sample.

    >>> plan = SplitPlan("train", 10, 4, key=0)
    >>> [len(plan.samples(shard)) for shard in range(4)], plan.shard_name(3)
    ([2, 3, 2, 3], 'train-00003.tar')
    """

    split: str
    count: int
    shards: int
    key: int

    def samples(self, shard: int) -> Int64[Tensor, " some"]:
        """Return the images of a shard, in its order."""
        start, stop = (self.count * number // self.shards for number in (shard, shard + 1))
        if start == stop:
            return torch.arange(0)
        return Permutation(self.count, self.key, 0)(torch.arange(start, stop))

    def shard_name(self, shard: int) -> str:
        """Name a shard; names sort as numbers do."""
        digits = max(DIGITS, len(str(self.shards - 1)))
        return f"{self.split}-{shard:0{digits}d}.tar"


def shard_count(count: int, images: int, lanes: int) -> int:
    """Return how many shards `count` images make, at most `images` in each: whole lanes.

    >>> shard_count(1000, 100, 1), shard_count(1000, 100, 4), shard_count(3, 100, 4)
    (10, 12, 3)
    """
    needed = max(1, -(-count // images))
    return min(max(1, count), -(-needed // lanes) * lanes)


def usual_lanes(shards: int) -> int:
    """Return the lanes that some shards are made for: the power of two up to a quarter of them.

    >>> [usual_lanes(shards) for shards in (1, 10, 100, 1_000_000)]
    [1, 2, 16, 1024]
    """
    return min(1024, 1 << max(0, (shards // 4).bit_length() - 1))
