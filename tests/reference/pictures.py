"""Neighbours, agreement and chance as plain loops."""

import math


def cosine(one, other):
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / math.sqrt(sum(a * a for a in one)) / math.sqrt(sum(b * b for b in other))


def neighbours(vectors, count):
    """For each vector the others, nearest by cosine first."""
    found = []
    for place, vector in enumerate(vectors):
        others = [(cosine(vector, other), n) for n, other in enumerate(vectors) if n != place]
        others.sort(key=lambda pair: -pair[0])
        found.append(others[:count])
    return found


def agreement(labels, near):
    """The share of neighbours with their query's label."""
    same = [labels[n] == labels[place] for place, row in enumerate(near) for n in row]
    return sum(same) / len(same)


def chance(labels):
    """The share of all pairs of two images that have one label."""
    pairs = [(a, b) for a in range(len(labels)) for b in range(len(labels)) if a != b]
    return sum(labels[a] == labels[b] for a, b in pairs) / len(pairs)
