"""Is a difference more than chance? Bootstraps over test images and seeds, or seeds alone."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

RESAMPLES = 10_000  # our choice: a p of 0.05 is then known to 0.002
SEEDS_DRAWN = 1_000  # three seeds of two cells have only 100 different draws


def paired(one: Float[Tensor, "seed image"], other: Float[Tensor, "seed2 image"]) -> float:
    r"""Return the two-sided p of two cells on the same test images; 1 is a correct image.

    Seeds are drawn again, of each cell for itself, and images, the same ones for both; with d the
    difference of the mean accuracies of a draw,

    $$ p = 2 \min(P(d \le 0), P(d \ge 0)) $$

    With one seed it says what other test images might have given, not what another training might.

    >>> right = torch.tensor([[1.0] * 90 + [0.0] * 10])
    >>> paired(right, right)
    1.0
    >>> paired(right, 1 - right) < 0.001
    True
    """
    generator = torch.Generator().manual_seed(0)
    sides = [
        torch.randint(len(side), (SEEDS_DRAWN, len(side)), generator=generator).sort(dim=1).values
        for side in (one, other)
    ]
    pairs, times = torch.cat(sides, dim=1).unique(dim=0, return_counts=True)
    means = []
    for pair, count in zip(pairs, times.tolist(), strict=True):
        mine, theirs = pair.tensor_split([len(one)])
        # Whole numbers, so that no rounding decides whether a difference is nought.
        apart = one[mine].sum(dim=0) * len(other) - other[theirs].sum(dim=0) * len(one)
        draws = count * RESAMPLES // SEEDS_DRAWN
        means.append(_means_of_draws(apart.double(), draws, generator))
    return _two_sided(torch.cat(means))


def over_seeds(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return the two-sided p of two cells by drawing their seeds again; None for fewer than two.

    With three seeds there are only ten different draws of each: a coarse answer.

    >>> over_seeds([0.9, 0.91, 0.92], [0.5, 0.51, 0.52])
    0.0
    >>> over_seeds([0.9], [0.5, 0.51]) is None
    True
    """
    if min(len(one), len(other)) < 2:
        return None
    generator = torch.Generator().manual_seed(0)
    means = []
    for values in (one, other):
        drawn = torch.randint(len(values), (RESAMPLES, len(values)), generator=generator)
        means.append(torch.tensor(values, dtype=torch.float64)[drawn].mean(dim=1))
    return _two_sided(means[0] - means[1])


def holm(chances: Sequence[float]) -> list[float]:
    r"""Correct the p of several comparisons for their number (Holm 1979).

    With the m values in order, $p_{(1)} \le p_{(2)} \le \dots$,

    $$ \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) \, p_{(j)}) $$

    The chance that any of those below 0.05 is due to luck alone is then below 0.05, however the
    comparisons depend on each other.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found, largest = [0.0] * len(chances), 0.0
    for done, place in enumerate(sorted(range(len(chances)), key=lambda at: chances[at])):
        largest = max(largest, min(1.0, (len(chances) - done) * chances[place]))
        found[place] = largest
    return found


def _means_of_draws(
    values: Float[Tensor, " n"], draws: int, generator: torch.Generator
) -> Float[Tensor, " draw"]:
    """Draw n of n values with replacement, many times, and give the mean of each draw.

    Images that were right or wrong differ by few values: how often each is drawn is multinomial,
    so that one binomial a value does for all images that have it, in place of one number an image.
    """
    kinds, counts = values.unique(return_counts=True)
    left = torch.full((draws,), float(len(values)), dtype=torch.float64)
    total = torch.zeros_like(left)
    for place in range(len(kinds)):
        share = counts[place] / counts[place:].sum()  # 1 at the last
        drawn = torch.binomial(left, share.double().expand_as(left), generator=generator)
        total += drawn * kinds[place]
        left -= drawn
    return total / len(values)


def _two_sided(apart: Tensor) -> float:
    below, above = (apart <= 0).double().mean(), (apart >= 0).double().mean()
    return min(1.0, 2 * float(torch.minimum(below, above)))
