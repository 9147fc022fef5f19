"""Barlow Twins and VICReg as plain loops over images and features."""

import math


def barlow_twins(first, second, *, redundancy, eps=1e-5):
    """Zbontar et al. 2021, equation 1; each feature is standardised over the batch first."""
    first, second = _standardised(first, eps), _standardised(second, eps)
    count, width = len(first), len(first[0])
    total = 0.0
    for i in range(width):
        for j in range(width):
            c = sum(first[b][i] * second[b][j] for b in range(count)) / count
            total += (1 - c) ** 2 if i == j else redundancy * c**2
    return total


def vicreg(first, second, *, invariance, variance, covariance, eps=1e-4):
    """Bardes et al. 2022, equation 6, with the constants of facebookresearch/vicreg."""
    count, width = len(first), len(first[0])
    squares = [(first[b][j] - second[b][j]) ** 2 for b in range(count) for j in range(width)]
    total = invariance * sum(squares) / (count * width)
    for z in (first, second):
        means = [sum(row[j] for row in z) / count for j in range(width)]
        for i in range(width):
            for j in range(width):
                pairs = ((row[i] - means[i]) * (row[j] - means[j]) for row in z)
                c = sum(pairs) / (count - 1)
                if i == j:
                    total += variance * max(0.0, 1 - math.sqrt(c + eps)) / (2 * width)
                else:
                    total += covariance * c**2 / width
    return total


def _standardised(rows, eps):
    count, width = len(rows), len(rows[0])
    result = [[0.0] * width for _ in rows]
    for j in range(width):
        mean = sum(row[j] for row in rows) / count
        spread = sum((row[j] - mean) ** 2 for row in rows) / count
        for b in range(count):
            result[b][j] = (rows[b][j] - mean) / math.sqrt(spread + eps)
    return result
