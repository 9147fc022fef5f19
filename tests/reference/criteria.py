"""Criteria without labels as plain loops."""

import math


def prequential(vectors, groups, chunk):
    """Predict each sample's group from the most similar one before its chunk."""
    right = asked = 0
    for i in range(chunk, len(vectors)):
        start = i // chunk * chunk
        best = max(range(start), key=lambda j: _cosine(vectors[i], vectors[j]))
        right += groups[best] == groups[i]
        asked += 1
    return right / asked


def two_neighbours(points):
    """Facco et al. 2017, by the likelihood of the ratio of two distances."""
    logs = []
    for i, point in enumerate(points):
        apart = sorted(math.dist(point, other) for j, other in enumerate(points) if j != i)
        if apart[0] > 0:
            logs.append(math.log(apart[1] / apart[0]))
    return (len(logs) - 1) / sum(logs)


def _cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
