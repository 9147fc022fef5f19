"""Criteria on one scale: ranks, their mean, and how far two orders agree."""

from collections.abc import Mapping, Sequence
from math import isnan, sqrt


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 0 for the lowest to 1; equal values share theirs.

    A value that is not a number is below all others: whatever gave it has failed.

    >>> ranks([10.0, 30.0, 20.0, 20.0])
    [0.0, 1.0, 0.5, 0.5]
    """
    keys = [(not isnan(value), 0.0 if isnan(value) else value) for value in values]
    below = [sum(other < key for other in keys) for key in keys]
    equal = [sum(other == key for other in keys) for key in keys]
    last = max(1, len(keys) - 1)
    return [(low + (same - 1) / 2) / last for low, same in zip(below, equal, strict=True)]


def mean_rank(criteria: Mapping[str, Sequence[float]]) -> list[float]:
    """Return the mean over the criteria of each candidate's rank.

    >>> mean_rank({"rankme": [3.0, 9.0, 5.0], "rotation": [0.5, 0.6, 0.7]})
    [0.0, 0.75, 0.75]
    """
    each = [ranks(values) for values in criteria.values()]
    return [sum(column) / len(each) for column in zip(*each, strict=True)]


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the correlation of two orders: that of their ranks; nan where one has no order.

    >>> round(spearman([1.0, 2.0, 3.0], [10.0, 100.0, 1000.0]), 6)
    1.0
    >>> round(spearman([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]), 6)
    -1.0
    """
    x, y = (_centred(ranks(values)) for values in (one, other))
    lengths = sqrt(sum(a * a for a in x)) * sqrt(sum(b * b for b in y))
    return sum(a * b for a, b in zip(x, y, strict=True)) / lengths if lengths else float("nan")


def _centred(values: list[float]) -> list[float]:
    mean = sum(values) / len(values)
    return [value - mean for value in values]
