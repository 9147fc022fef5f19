"""Pairs of images out of lists of neighbours, each pair once."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor


class NearPairs(NamedTuple):
    """Two images and their scaled distance; the first has the smaller number."""

    ends: Int64[Tensor, "pair 2"]
    distance: Float64[Tensor, " pair"]

    def within(self, radius: float) -> "NearPairs":
        """Keep what is at most this far."""
        near = self.distance <= radius
        return NearPairs(self.ends[near], self.distance[near])


def near_pairs(
    index: Int64[Tensor, "image near"], lists: Float[Tensor, "image near"], *, radius: float = 1.0
) -> NearPairs:
    """Collect the pairs within a radius; one that is in both lists is counted once.

    >>> near_pairs(torch.tensor([[1], [0], [1]]), torch.tensor([[0.5], [0.5], [0.9]])).ends.tolist()
    [[0, 1], [1, 2]]
    """
    row, column = ((lists <= radius) & (index >= 0)).nonzero().unbind(dim=1)
    other = index[row, column]
    first, second = torch.minimum(row, other), torch.maximum(row, other)
    keys, order = (first * len(index) + second).sort(stable=True)
    fresh = torch.ones(len(keys), dtype=torch.bool)
    fresh[1:] = keys[1:] != keys[:-1]
    chosen = order[fresh]
    ends = torch.stack([first[chosen], second[chosen]], dim=1)
    return NearPairs(ends, lists[row[chosen], column[chosen]].double())
