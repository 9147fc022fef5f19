"""Philox: random numbers as a function of a counter and a key, with no state to keep."""

import torch
from torch import Tensor

from counterpoint.framework.constants import constant

Words = tuple[Tensor, Tensor, Tensor, Tensor]

LOW = 0xFFFFFFFF
# Philox4x32-10: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10


def philox(counter: Words, key: tuple[int, int]) -> Words:
    """Encrypt a 128-bit counter under a 64-bit key; words are 32 bits, held in int64.

    >>> zero = torch.zeros((), dtype=torch.int64)
    >>> [hex(word) for word in philox((zero, zero, zero, zero), (0, 0))]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    a, b, c, d = counter
    # Both halves of a round in one tensor: on a device an operator costs a launch.
    left, right = _pair(a, c), _pair(b, d)
    along = (2,) + (1,) * a.dim()
    factors = constant(MULTIPLIERS[::-1], torch.int64, a.device, shape=along)
    keys = constant(_round_keys(key), torch.int64, a.device, shape=(ROUNDS, *along))
    for round_key in keys.unbind():
        # The product wraps around as int64, but its 64 bits are right; the upper 32 of `right`
        # are left standing, as the mask of `left` takes them away.
        product = left.flip(0) * factors
        left = ((product >> 32) ^ right ^ round_key) & LOW
        right = product
    (a, c), (b, d) = left.unbind(), (right & LOW).unbind()
    return a, b, c, d


def _pair(first: Tensor, second: Tensor) -> Tensor:
    same = first.shape == second.shape
    return torch.stack([first, second] if same else torch.broadcast_tensors(first, second))


def _round_keys(key: tuple[int, int]) -> tuple[int, ...]:
    """Return both words of the key of every round."""
    return tuple((key[i] + step * WEYL[i]) & LOW for step in range(ROUNDS) for i in (0, 1))


def keyed_order(count: int, *, seed: int, epoch: int) -> Tensor:
    """Return a permutation of range(count) that is a function of seed and epoch only.

    >>> keyed_order(5, seed=1, epoch=0).sort().values
    tensor([0, 1, 2, 3, 4])
    """
    index = torch.arange(count)
    zero = torch.zeros_like(index)
    counter = (index & LOW, index >> 32, zero + epoch, zero + LOW)  # no view has this place
    high, low, _, _ = philox(counter, (seed & LOW, (seed >> 32) & LOW))
    return ((high << 31) ^ low).argsort(stable=True)
