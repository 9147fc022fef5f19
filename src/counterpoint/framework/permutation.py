"""Orders of any number of samples that are computed place by place and never held."""

from collections.abc import Sequence
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
# What an order is for: both have keys of their own, and no view has this place in its counter.
SAMPLES, SHARDS = LOW - 1, LOW - 2
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
    use: int = SAMPLES

    def __call__(self, places: Numbers) -> Numbers:
        """Return the samples at some positions of the order."""
        keys = _keys(self.seed, self.epoch, self.use)
        bits = max(2, (self.count - 1).bit_length())
        parts = np.split(places.numpy(), range(CHUNK, len(places), CHUNK))
        return torch.from_numpy(np.concatenate([self._walked(part, bits, keys) for part in parts]))

    def _walked(self, places: Array, bits: int, keys: tuple[np.int64, ...]) -> Array:
        """Send places through until they fall inside."""
        found = _feistel(places, bits, keys)
        outside = np.flatnonzero(found >= self.count)
        while len(outside):
            found[outside] = again = _feistel(found[outside], bits, keys)
            outside = outside[again >= self.count]
        return found


class Permutations:
    """Permutations of range(counts[g]), one for each group g, all under keys of their own.

    The key of group g is a function of seed, epoch, use, and two numbers, `first` and `second`:
    a lane and a block of it, or a shard. With both 0 it is that of `Permutation`.

    >>> both = Permutations(torch.tensor([10, 3]), torch.tensor([0, 7]), seed=0)
    >>> both(torch.arange(10), torch.zeros(10, dtype=torch.int64)).tolist()
    [6, 4, 9, 2, 5, 1, 3, 8, 7, 0]
    >>> both(torch.tensor([0, 1, 2, 0]), torch.tensor([1, 1, 1, 0])).tolist()
    [1, 0, 2, 6]
    """

    def __init__(
        self,
        counts: Int64[Tensor, " group"],
        first: Int64[Tensor, " group"],
        second: Int64[Tensor, " group"] | None = None,
        *,
        seed: int,
        epoch: int = 0,
        use: int = SAMPLES,
    ) -> None:
        second = torch.zeros_like(first) if second is None else second
        self._counts: Array = counts.numpy()
        # The bits of count - 1: exact, since a count is far below 2^53.
        self._bits: Array = np.maximum(2, np.frexp(self._counts - 1.0)[1]).astype(np.int64)
        self._keys: Array = _drawn_keys(seed, epoch, use, first, second)

    def __call__(self, places: Numbers, groups: Numbers) -> Numbers:
        """Return what stands at some places, each in the order of its group."""
        cuts = range(CHUNK, len(places), CHUNK)
        parts = zip(np.split(places.numpy(), cuts), np.split(groups.numpy(), cuts), strict=True)
        return torch.from_numpy(np.concatenate([self._walked(*part) for part in parts]))

    def _walked(self, places: Array, groups: Array) -> Array:
        """Send places through until they fall inside."""
        counts = self._counts[groups]
        found = self._once(places, groups)
        outside = np.flatnonzero(found >= counts)
        while len(outside):
            found[outside] = again = self._once(found[outside], groups[outside])
            outside = outside[again >= counts[outside]]
        return found

    def _once(self, places: Array, groups: Array) -> Array:
        return _feistel(places, self._bits[groups], [keys[groups] for keys in self._keys])


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
def _keys(seed: int, epoch: int, use: int) -> tuple[np.int64, ...]:
    """Draw one odd key per round."""
    zero = torch.zeros(1, dtype=torch.int64)
    return tuple(_drawn_keys(seed, epoch, use, zero, zero)[:, 0])


def _drawn_keys(seed: int, epoch: int, use: int, first: Tensor, second: Tensor) -> Array:
    """Draw one odd key per round and group from Philox: first below 2^32, second below 2^29."""
    number = torch.arange(ROUNDS)[:, None] + ROUNDS * second
    zero = torch.zeros_like(number)
    counter = (number, zero + first, zero + (epoch & LOW), zero + use)
    words = philox(counter, (seed & LOW, (seed >> 32) & LOW))
    keys: Array = ((words[0] << 31) ^ words[1] | 1).numpy()
    return keys


def _feistel(places: Array, bits: int | Array, keys: Sequence[np.int64 | Array]) -> Array:
    """Permute the power of two: uneven halves, which change places every round."""
    low = bits // 2
    widths = (bits - low, low)
    left, right = places >> low, places & ((1 << low) - 1)
    for number, key in enumerate(keys):
        width = widths[number % 2]
        left, right = right, (left + _hash(right, key, width)) & ((1 << width) - 1)
    # An even number of rounds: left and right have their own widths again.
    return (left << low) | right


def _hash(half: Array, key: np.int64 | Array, width: int | Array) -> Array:
    """Mix a half under an odd key: the middle bits of a product depend on all bits below."""
    mixed = (half ^ (key >> 20)) * key
    mixed = (mixed ^ (mixed >> 29)) * MULTIPLIER
    return (mixed >> (62 - width)) & ((1 << width) - 1)
