"""Losses that came after the paper, as plain loops from their equations.

`rows` has the positive scores and the negative scores of every anchor.
"""

import torch

from reference.losses import dot
from reference.softmax import log_sum_exp


def dclw(rows, *, sigma, inverse_tau):
    """Yeh et al. 2022, equation 6 with its weights of positives."""
    having = [(positive, negative) for positive, negative in rows if positive]
    similar = [[torch.exp(s.detach() / inverse_tau / sigma) for s in p] for p, _ in having]
    mean = sum(sum(each) / len(each) for each in similar) / len(having)
    total = 0.0
    for (positive, negative), each in zip(having, similar, strict=True):
        for s, e in zip(positive, each, strict=True):
            if negative:
                total += (log_sum_exp(negative) - (2 - e / mean) * s) / len(positive)
    return total / len(having)


def hard_negatives(rows, *, beta, prior, inverse_tau):
    """Robinson et al. 2021, equation 4 by samples; with beta 0 Chuang et al. 2020, equation 8."""
    means = []
    for positive, negative in rows:
        if not positive:
            continue
        count, terms = len(negative), []
        weights = [torch.exp(beta * s) for s in negative]
        mean_weight = sum(weights) / count
        weighted = sum(
            w * torch.exp(s) / mean_weight for w, s in zip(weights, negative, strict=True)
        )
        for s in positive:
            left = (weighted - prior * count * torch.exp(s)) / (1 - prior)
            floor = count * torch.exp(torch.tensor(-inverse_tau, dtype=torch.float64))
            g = left if left > floor else floor
            terms.append(-torch.log(torch.exp(s) / (torch.exp(s) + g)))
        means.append(sum(terms) / len(terms))
    return sum(means) / len(means)


def sigmoid(rows):
    """Zhai et al. 2023, equation 1: each pair by itself, divided by the number of anchors."""
    totals = []
    for positive, negative in rows:
        if positive:
            total = sum(-torch.log(torch.sigmoid(s)) for s in positive)
            totals.append(total + sum(-torch.log(torch.sigmoid(-s)) for s in negative))
    return sum(totals) / len(totals)


def spectral(rows, *, mu):
    """HaoChen et al. 2021, equation 6, divided by mu as in the authors' code."""
    means = []
    for positive, negative in rows:
        if positive:
            repelled = sum(s * s for s in negative) / len(negative)
            attracted = sum(positive) / len(positive)
            means.append((repelled - 2 * attracted) / mu)
    return sum(means) / len(means)


def nearest_entropy(rows, *, inverse_tau):
    """Pizzi et al. 2022, equation 4: minus the log distance to the nearest other image."""
    terms = []
    for positive, negative in rows:
        if positive:
            nearest = max(negative, key=lambda s: s.item()) / inverse_tau
            terms.append(-torch.log(torch.sqrt(2 - 2 * nearest)))
    return sum(terms) / len(terms)


def alignment_uniformity(first, second, labels, *, alpha=2.0, t=2.0):
    """Wang and Isola 2020, equations 2 and 3, of the unit vectors of two views.

    `labels` says whose they are: images, or classes, which have several images.
    """
    count, both, whose = len(first), [*first, *second], [*labels, *labels]
    near = 0.0
    for i, x in enumerate(both):
        positives = [y for j, y in enumerate(both) if j != i and whose[j] == whose[i]]
        apart = sum(squared(x, y) ** (alpha / 2) for y in positives)
        near += apart / len(positives) / len(both)
    uniform = 0.0
    for view in (first, second):
        pairs = [(i, j) for i in range(count) for j in range(i) if labels[i] != labels[j]]
        kernel = sum(torch.exp(-t * squared(view[i], view[j])) for i, j in pairs) / len(pairs)
        uniform += torch.log(kernel) / 2
    return near + uniform


def squared(x, y):
    return dot(x - y, x - y)
