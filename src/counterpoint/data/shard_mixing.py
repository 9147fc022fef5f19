"""How well the batches of an order mix its shards."""

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.order import Order

LOOKED_AT = 1 << 16  # samples: a few batches, a tenth of a second


def same_shard(order: Order) -> float:
    r"""Return how many others of its batch come from a sample's own shard, in the first batches.

    $\frac{1}{B} \sum_s c_s (c_s - 1)$ for a batch that has $c_s$ samples of shard s.

    >>> order = Order(8, batch=4, seed=0, counts=torch.tensor([4, 4]), block_shards=1)
    >>> same_shard(order)  # one shard after the other
    3.0
    """
    counts = torch.tensor([order.count]) if order.counts is None else order.counts
    ends = counts.cumsum(0)
    steps = min(len(order), max(1, LOOKED_AT // order.batch))
    found = 0
    for step in range(steps):
        shards = torch.searchsorted(ends, order.whole(step), right=True)
        met = shards.unique(return_counts=True)[1]
        found += int((met * (met - 1)).sum())
    return found / (steps * order.batch)


def same_shard_by_chance(counts: Int64[Tensor, " shard"], batch: int) -> float:
    r"""Return what a permutation of all samples gives, $(B - 1) \sum_s n_s (n_s - 1) / N (N - 1)$.

    >>> round(same_shard_by_chance(torch.tensor([4, 4]), 4), 3)
    1.286
    """
    sizes = counts.double()
    total = sizes.sum()
    if total < 2:
        return 0.0
    return float((batch - 1) * (sizes * (sizes - 1)).sum() / (total * (total - 1)))
