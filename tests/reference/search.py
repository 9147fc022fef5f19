"""Search in plain loops: every query with every vector."""

import math


def nearest(queries, vectors, *, count, without=None):
    """For each query, (cosine, row) of the largest cosines, largest first."""
    found = []
    for place, query in enumerate(queries.double().tolist()):
        scores = []
        for row, vector in enumerate(vectors.double().tolist()):
            if without is not None and row == int(without[place]):
                continue
            product = sum(a * b for a, b in zip(query, vector, strict=True))
            lengths = math.sqrt(sum(a * a for a in query)) * math.sqrt(sum(b * b for b in vector))
            scores.append((product / lengths, row))
        found.append(sorted(scores, key=lambda one: -one[0])[:count])
    return found
