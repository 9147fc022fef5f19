"""Losses and similarities as plain loops, from the equations of the paper."""

import math

import torch

from reference.softmax import log_sum_exp


def nce(rows, *, numerator, denominator, average):
    """rows: for every anchor its positive scores and its negative scores."""
    terms, weights = [], []
    for positive, negative in rows:
        if not positive:
            continue
        if numerator == "sum":  # equation 1
            below = negative if denominator == "negatives" else [*positive, *negative]
            terms.append(log_sum_exp(below) - log_sum_exp(positive) if below else 0.0)
            weights.append(1.0)
            continue
        for s in positive:
            below = {
                "own": [s, *negative],  # equation 3
                "all": [*positive, *negative],
                "negatives": list(negative),  # equation 4 as printed
            }[denominator]
            terms.append(log_sum_exp(below) - s if below else 0.0)
            weights.append(1.0 if average == "positives" else 1.0 / len(positive))
    return sum(w * t for w, t in zip(weights, terms, strict=True)) / sum(weights)


def triplet(rows, *, margin):
    terms = []
    for positive, negative in rows:
        if positive:
            worst = min(positive, key=lambda s: s.item())
            hinge = margin - worst + max(negative, key=lambda s: s.item()) if negative else None
            terms.append(torch.zeros(()) if hinge is None or hinge < 0 else hinge)
    return sum(terms) / len(terms)


def regression(rows):
    means = [sum(2 - 2 * s for s in positive) / len(positive) for positive, _ in rows if positive]
    return sum(means) / len(means)


def nt_xent(first, second, tau):
    """SimCLR's loss as its paper writes it, over all 2b views."""
    views = [*first, *second]
    b, total = len(first), 0.0
    for i, anchor in enumerate(views):
        scores = [cosine(anchor, other) / tau for other in views]
        partner = (i + b) % (2 * b)
        total += log_sum_exp([s for j, s in enumerate(scores) if j != i]) - scores[partner]
    return total / (2 * b)


def dot(a, b):
    return sum(a[k] * b[k] for k in range(len(a)))


def cosine(a, b):
    return dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())


def shortened(a, mu):
    """The same vector, or one of length sqrt(mu) where it is longer."""
    length = dot(a, a).sqrt()
    return a if length < math.sqrt(mu) else [math.sqrt(mu) * x / length for x in a]


def bilinear(a, b, w):
    return sum(a[i] * w[j, i] * b[j] for i in range(len(a)) for j in range(len(b)))


def scaled_dot(a, b, clip):
    s = dot(a, b) / math.sqrt(len(a))
    return s if clip is None else clip * torch.tanh(s / clip)
