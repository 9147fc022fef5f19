"""Blocks of an order that are open: which pieces of which shards lie in them."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

Pieces = Int64[Tensor, " piece"]
Groups = Int64[Tensor, " group"]
Places = Int64[Tensor, " place"]


@dataclass(frozen=True, slots=True, eq=False)
class OpenBlocks:
    """Pieces of shards, block after block and in each block by the number of their shard.

    A piece is a whole shard, or a part of one that a cut between lanes goes through.

    >>> one = torch.zeros(2, dtype=torch.int64)
    >>> blocks = OpenBlocks.of(one, torch.tensor([5, 2]), torch.tensor([50, 20]),
    ...     torch.tensor([3, 4]), begins=torch.tensor([0]))
    >>> blocks.samples(torch.zeros(7, dtype=torch.int64), torch.arange(7)).tolist()
    [20, 21, 22, 23, 50, 51, 52]
    """

    groups: Pieces
    """The block that each piece is of."""
    shards: Pieces
    firsts: Pieces
    """The number of the first sample of each piece."""
    ends: Pieces
    """Where each piece ends, if all of them stand one after the other."""
    begins: Groups
    """Where each block begins in the line of shards."""
    sizes: Groups
    """How many samples each block has."""

    @classmethod
    def of(
        cls, groups: Pieces, shards: Pieces, firsts: Pieces, sizes: Pieces, *, begins: Groups
    ) -> "OpenBlocks":
        """Put the pieces of some blocks in their order."""
        order = torch.from_numpy(np.lexsort((shards.numpy(), groups.numpy())))
        total = torch.zeros_like(begins).index_add_(0, groups, sizes)
        ends = sizes[order].cumsum(0)
        return cls(groups[order], shards[order], firsts[order], ends, begins, total)

    def read(self) -> list[int]:
        """List the shards that have samples here, block after block."""
        sizes = self.ends.diff(prepend=self.ends.new_zeros(1))
        return [int(shard) for shard in self.shards[sizes > 0]]

    def samples(self, groups: Places, places: Places) -> Places:
        """Return the samples at some places of some blocks, in which shards are in order."""
        behind = places + (self.sizes.cumsum(0) - self.sizes)[groups]
        piece = torch.searchsorted(self.ends, behind, right=True)
        begins = self.ends.roll(1)
        begins[0] = 0
        return self.firsts[piece] + behind - begins[piece]
