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
    """Bardes et al. 2021, equation 6, with the constants of facebookresearch/vicreg."""
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
                    total += variance * max(0.0, 1 - (c + eps) ** 0.5) / (2 * width)
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
            result[b][j] = (rows[b][j] - mean) / (spread + eps) ** 0.5
    return result


def supervised(vectors, labels, tau):
    """Khosla et al. 2020, equation 2, as a mean over anchors that have a positive."""
    units = []
    for vector in vectors:
        length = math.sqrt(sum(x * x for x in vector))
        units.append([x / length for x in vector])
    terms = []
    for i, anchor in enumerate(units):
        scores = [sum(a * b for a, b in zip(anchor, c, strict=True)) / tau for c in units]
        others = [j for j in range(len(units)) if j != i]
        below = math.log(sum(math.exp(scores[j]) for j in others))
        positives = [j for j in others if labels[j] == labels[i]]
        if positives:
            terms.append(sum(below - scores[j] for j in positives) / len(positives))
    return sum(terms) / len(terms)
