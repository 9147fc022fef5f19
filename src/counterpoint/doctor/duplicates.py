"""Images that are there more than once."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import count

import numpy as np

from counterpoint.doctor.hashing import bits_apart
from counterpoint.progress import tracked

APART = 3  # bits of 64; our choice: of every fifth photo of caltech20, saved again at half the
# size, at quality 50 or in grey, 0.90, 0.99 and 0.99 of the copies are as near
BANDS = APART + 1
WIDTH = 64 // BANDS
CROWD = 1_000  # neighbours that a hash is compared with in one band: the time stays linear


def same(digests: Sequence[bytes]) -> list[list[int]]:
    """Group the places of equal digests; those that are alone are left out.

    >>> same([b"a", b"b", b"a"])
    [[0, 2]]
    """
    places: dict[bytes, list[int]] = defaultdict(list)
    for place, digest in enumerate(digests):
        places[digest].append(place)
    return [group for group in places.values() if len(group) > 1]


def near(hashes: np.ndarray) -> list[list[int]]:
    """Group the places of hashes that are at most 3 bits apart, directly or by others.

    Hashes of 64 bits are cut into 4 bands. Two that differ in 3 bits are equal in one band at
    least, so that only hashes that share a band have to be compared. Where very many share
    one, each is compared with its next 1,000 in order, and a pair may be missed.

    >>> near(np.array([0, 1, 1 << 40, 0xFFFF]))
    [[0, 1, 2]]
    """
    distinct, back = np.unique(hashes, return_inverse=True)
    what = f"comparing {len(distinct):,} images"
    pairs = [_pairs(distinct, band) for band in tracked(range(BANDS), what)]
    groups = connected(len(distinct), np.concatenate(pairs))[back]
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    return [part.tolist() for part in np.split(order, starts[1:]) if len(part) > 1]


def _pairs(hashes: np.ndarray, band: int) -> np.ndarray:
    """Return pairs of places that share a band and are near."""
    keys = (hashes >> (band * WIDTH)) & ((1 << WIDTH) - 1)
    order = np.lexsort((hashes, keys))
    keys, hashes = keys[order], hashes[order]
    at, found = np.arange(len(keys)), [np.zeros((0, 2), np.int64)]
    for step in count(1):
        at = at[at + step < len(keys)]
        at = at[keys[at] == keys[at + step]]
        if len(at) == 0 or step > CROWD:
            return np.concatenate(found)
        close = at[bits_apart(hashes[at], hashes[at + step]) <= APART]
        found.append(np.stack([order[close], order[close + step]], axis=1))
    raise AssertionError("count does not end")


def connected(size: int, pairs: np.ndarray) -> np.ndarray:
    """Number the connected groups: each takes the smallest number in it."""
    numbers = np.arange(size)
    while len(pairs):
        before = numbers.copy()
        np.minimum.at(numbers, pairs[:, 0], before[pairs[:, 1]])
        np.minimum.at(numbers, pairs[:, 1], before[pairs[:, 0]])
        numbers = numbers[numbers]  # twice as far in every round
        if np.array_equal(before, numbers):
            break
    return numbers
