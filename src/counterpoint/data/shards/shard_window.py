"""Which rows of each shard are the samples of a split: computed, and never listed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.framework.permutation import Permutation

Counts = Int64[Tensor, " shard"]
LARGEST = 1 << 63  # products from here on do not fit into 64 bits


@dataclass(frozen=True, slots=True, eq=False)
class ShardWindow:
    """A window of the rows of every shard; a sample's number is its place shard after shard.

    Sample j of shard s is row P(first_s + j), where P is the permutation of the shard's rows that
    is keyed by `key` and s; without a key the rows stay as they are.

    >>> every = ShardWindow.whole(torch.tensor([3, 2]))
    >>> shard, row = every.places(torch.arange(5))
    >>> shard.tolist(), row.tolist()
    ([0, 0, 0, 1, 1], [0, 1, 2, 0, 1])
    """

    rows: Counts
    """How many rows of each shard are permuted: all of them."""
    counts: Counts
    """How many of them each shard has in this window."""
    firsts: Counts | None = None
    """Where the window begins in each shard; None where it is the first row everywhere."""
    key: int | None = None
    ends: Counts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", self.counts.cumsum(0))

    @classmethod
    def whole(cls, rows: Counts) -> "ShardWindow":
        """Take all rows as they lie."""
        return cls(rows, rows)

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def place(self, sample: int) -> tuple[int, int]:
        """Return the shard of a sample, and its place in the permuted rows."""
        ends = self.ends.numpy()
        shard = int(ends.searchsorted(sample, side="right"))
        place = sample - int(ends[shard - 1]) if shard else sample
        return shard, place if self.firsts is None else place + int(self.firsts[shard])

    def places(self, samples: Int64[Tensor, " some"]) -> tuple[Tensor, Tensor]:
        """Return shard and row of some samples."""
        shards = torch.searchsorted(self.ends, samples, right=True)
        rows = samples - (self.ends - self.counts)[shards]
        if self.firsts is not None:
            rows = rows + self.firsts[shards]
        if self.key is not None:
            for shard in shards.unique().tolist():
                own = shards == shard
                rows[own] = self.permutation(shard)(rows[own])
        return shards, rows

    def sample(self, shard: int, row: int) -> int | None:
        """Return the sample of a row of a shard; None where the row is not in the window.

        >>> rest, part = ShardWindow.whole(torch.tensor([4, 4])).split([2], key=0)
        >>> [rest.sample(1, row) for row in range(4)], [part.sample(1, row) for row in range(4)]
        ([None, 3, 4, 5], [1, None, None, None])
        """
        last, count = int(self.ends[shard]), int(self.counts[shard])
        own = torch.arange(last - count, last)
        found = own[self.places(own)[1] == row]
        return int(found) if len(found) else None

    def permutation(self, shard: int) -> Permutation:
        """Return the order of the rows of a shard."""
        assert self.key is not None
        return Permutation(int(self.rows[shard]), self.key, shard)

    def first(self, count: int) -> "ShardWindow":
        """Take the first samples, at most `count`."""
        count = min(count, len(self))
        many = int(torch.searchsorted(self.ends, count)) + 1 if count else 0
        counts = self.counts[:many].clone()
        if many:
            counts[-1] -= int(self.ends[many - 1]) - count
        rows = counts if self.key is None and self.firsts is None else self.rows[:many]
        firsts = None if self.firsts is None else self.firsts[:many]
        return ShardWindow(rows, counts, firsts, self.key)

    def split(self, held: Sequence[int], key: int) -> list["ShardWindow"]:
        """Hold parts out: return the rest, and each part.

        Of N samples, of which shard s has those from a to b, floor(H b / N) - floor(H a / N) are
        held out of it for a part of H: so every shard gives its share, and the shares add up to H.

        >>> rest, part = ShardWindow.whole(torch.tensor([4, 4])).split([2], key=0)
        >>> rest.counts.tolist(), part.counts.tolist()
        ([3, 3], [1, 1])
        """
        key = key if self.key is None else self.key
        firsts = torch.zeros_like(self.counts) if self.firsts is None else self.firsts
        left, parts = self, []
        for many in held:  # one after the other, so that no shard gives more than it has
            share = left._shares(many)
            rest = left.counts - share
            parts.append(ShardWindow(self.rows, share, firsts + rest, key))
            left = ShardWindow(self.rows, rest, self.firsts, key)
        return [left, *parts]

    def _shares(self, held: int) -> Counts:
        """Return how many of `held` samples fall to each shard."""
        total = max(1, len(self))
        ends = self.ends.numpy()
        wide = ends.astype(object) if held * total >= LARGEST else ends
        found = (wide * held // total).astype(np.int64)
        return torch.from_numpy(np.diff(found, prepend=np.int64(0)))
