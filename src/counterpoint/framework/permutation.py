"""An order of any number of samples that is computed place by place and never held."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.framework.philox import LOW, keyed_order, philox

ROUNDS = 8  # Luby and Rackoff 1988 need 4 with perfect rounds; each of ours is one multiplication
MULTIPLIER = np.int64(0x1E35A7BD97F4A7C5)  # odd, of random bits
SORTED = 1 << 21  # samples that are put in order by sorting
CHUNK = 1 << 16  # places at a time: what a core holds close by
Array = npt.NDArray[np.int64]
Numbers = Int64[Tensor, " place"]


@dataclass(frozen=True, slots=True)
class Permutation:
    """A permutation of range(count) as a function of seed and epoch.

    A Feistel network on the bits of a place: each round adds to one half a keyed hash of the
    other, which can be undone, so that no two places meet. It permutes the next power of two;
    places that fall outside of range(count) are sent through again until they fall inside
    (cycle walking, Black and Rogaway 2002), on average less than twice.

    >>> order = Permutation(10, seed=0, epoch=0)
    >>> order(torch.arange(10)).tolist()
    [6, 4, 9, 2, 5, 1, 3, 8, 7, 0]
    >>> Permutation(5_000_000_000, seed=0, epoch=3)(torch.tensor([0, 4_999_999_999])).tolist()
    [2740673712, 1930611312]
    """

    count: int
    seed: int
    epoch: int

    def __call__(self, places: Numbers) -> Numbers:
        """Return the samples at some positions of the order."""
        keys = _keys(self.seed, self.epoch)
        parts = np.split(places.numpy(), range(CHUNK, len(places), CHUNK))
        return torch.from_numpy(np.concatenate([self._walked(part, keys) for part in parts]))

    def _walked(self, places: Array, keys: tuple[np.int64, ...]) -> Array:
        """Send places through until they fall inside."""
        found = self._once(places, keys)
        outside = np.flatnonzero(found >= self.count)
        while len(outside):
            found[outside] = again = self._once(found[outside], keys)
            outside = outside[again >= self.count]
        return found

    def _once(self, places: Array, keys: tuple[np.int64, ...]) -> Array:
        """Permute the power of two: uneven halves, which change places every round."""
        bits = max(2, (self.count - 1).bit_length())
        low = bits // 2
        left, right = places >> low, places & ((1 << low) - 1)
        for number, key in enumerate(keys):
            width = bits - low if number % 2 == 0 else low
            left, right = right, (left + _hash(right, key, width)) & ((1 << width) - 1)
        # An even number of rounds: left and right have their own widths again.
        return (left << low) | right


def drawn(count: int, most: int, *, seed: int) -> Numbers:
    """Draw at most `most` of range(count) in an order that is a function of the seed.

    Few of many are computed place by place. Of sets up to two million, which sort in a second,
    the order is `keyed_order`: splits and looks that results were measured with stay what they
    were, ImageNet's among them.

    >>> drawn(5, 2, seed=1), drawn(5_000_000_000, 2, seed=1)
    (tensor([1, 2]), tensor([2668297511, 1151580659]))
    """
    if count <= SORTED:
        return keyed_order(count, seed=seed, epoch=0)[:most]
    return Permutation(count, seed, 0)(torch.arange(min(most, count)))


@lru_cache(maxsize=64)
def _keys(seed: int, epoch: int) -> tuple[np.int64, ...]:
    """Draw one odd key per round from Philox."""
    number = torch.arange(ROUNDS)
    zero = torch.zeros_like(number)
    counter = (number, zero, zero + (epoch & LOW), zero + (LOW - 1))  # no view has this place
    words = philox(counter, (seed & LOW, (seed >> 32) & LOW))
    return tuple(((words[0] << 31) ^ words[1] | 1).numpy())


def _hash(half: Array, key: np.int64, width: int) -> Array:
    """Mix a half under an odd key: the middle bits of a product depend on all bits below."""
    mixed = (half ^ (key >> 20)) * key
    mixed = (mixed ^ (mixed >> 29)) * MULTIPLIER
    return (mixed >> (62 - width)) & ((1 << width) - 1)
