"""Is a difference more than chance? Student's t over seeds and test images, or seeds alone."""

import sys
from collections.abc import Sequence
from math import sqrt
from statistics import fmean, variance

from jaxtyping import Float
from torch import Tensor

from counterpoint.study.tables.student_tail import student_tails

LEAST = sys.float_info.min
"""The smallest p there is: no finite number of seeds and images makes a chance of 0."""
ROUNDING = 1e-12  # of a difference: what varies less than this is how its sum was rounded


def paired(one: Float[Tensor, "seed image"], other: Float[Tensor, "seed2 image"]) -> float:
    r"""Return the two-sided p of two cells on the same test images; 1 is a correct image.

    With n seeds and N images, $\bar c_i$ a cell's share of seeds that are right on image i, and
    $d_i = \bar c_i - \bar c'_i$,

    $$ t = \frac{\bar d}{\sqrt{v}}, \quad
       v = \underbrace{\frac{s^2}{n}}_{\text{seeds of one}} +
           \underbrace{\frac{s'^2}{n'}}_{\text{of the other}} +
           \underbrace{\frac{\operatorname{var}_i d_i}{N}}_{\text{images}}, \quad
       \nu = \frac{v^2}{\sum_k v_k^2 / \nu_k} $$

    $s^2$ is the sample variance of the accuracies of a cell's seeds. $\nu$ are Satterthwaite's
    degrees of freedom (1946), those of the three terms being n - 1, n' - 1 and N - 1. What a seed
    does to single images is in both kinds of terms, so that v is rather too large than too small.

    A cell of one seed adds no term of seeds. With one seed each, p says what other test images
    might have given, not what another training might.

    Where nothing varies, all N images differ alike and there is no t. The p is then that of the
    sign test, $2^{1-N}$: a single image proves nothing.

    >>> import torch
    >>> right = torch.tensor([[1.0] * 90 + [0.0] * 10])
    >>> paired(right, right)
    1.0
    >>> paired(right, 1 - right) < 0.001
    True
    >>> paired(torch.ones(1, 4), torch.zeros(1, 4))
    0.125
    """
    apart = (one.sum(dim=0) / len(one) - other.sum(dim=0) / len(other)).double()
    terms = _of_seeds(*(side.double().mean(dim=1).tolist() for side in (one, other)))
    if len(apart) > 1:
        terms.append((float(apart.var()) / len(apart), len(apart) - 1))
    mean = float(apart.mean())
    if mean and not _vary(terms, mean):
        return max(0.5 ** (len(apart) - 1), LEAST)
    return _two_sided(mean, terms)


def over_seeds(
    one: Sequence[float], other: Sequence[float], *, apart: float | None = None
) -> float | None:
    """Return the two-sided p of two cells by the spread of their seeds: Welch's t (1947).

    It is None for fewer than two seeds of a cell, and where no two seeds of either differ: then
    the spread is zero. If given, `apart` replaces the difference of the means.

    >>> over_seeds([0.9, 0.91, 0.92], [0.5, 0.51, 0.52]) < 1e-5
    True
    >>> over_seeds([0.9], [0.5, 0.51]) is None
    True
    """
    terms = _of_seeds(one, other)
    if min(len(one), len(other)) < 2 or not _vary(terms, fmean(one) - fmean(other)):
        return None
    return _two_sided(fmean(one) - fmean(other) if apart is None else apart, terms)


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


def _of_seeds(*cells: Sequence[float]) -> list[tuple[float, int]]:
    """Return the variance of each cell's mean and its degrees of freedom, where there are any."""
    return [(variance(some) / len(some), len(some) - 1) for some in cells if len(some) > 1]


def _vary(terms: Sequence[tuple[float, int]], apart: float) -> bool:
    """Whether the variance of a difference is more than what rounding leaves."""
    return sum(size for size, _ in terms) > (ROUNDING * apart) ** 2


def _two_sided(apart: float, terms: Sequence[tuple[float, int]]) -> float:
    """Return the p of a difference whose variance is a sum of independent terms."""
    if apart == 0:
        return 1.0
    whole = sum(size for size, _ in terms)
    df = whole**2 / sum(size**2 / own for size, own in terms)
    return max(student_tails(apart / sqrt(whole), df), LEAST)
