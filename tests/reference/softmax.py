"""The summary of scores as plain loops over anchors and candidates."""

import torch


def scores_of(anchor, candidates, clip):
    scores = []
    for candidate in candidates:
        s = sum(anchor[k] * candidate[k] for k in range(len(anchor)))
        scores.append(s if clip is None else clip * torch.tanh(s / clip))
    return scores


def roles(i, anchor_identity, candidate_identity, itself):
    """Positions of the positives and of the negatives of anchor i."""
    positive, negative = [], []
    for j, identity in enumerate(candidate_identity.tolist()):
        if itself is not None and j == itself + i:
            continue
        (positive if identity == anchor_identity[i].item() else negative).append(j)
    return positive, negative


def summary(anchors, candidates, anchor_identity, candidate_identity, *, itself=None, clip=None):
    """For every anchor: the list of its positive scores and the list of its negative scores."""
    rows = []
    for i in range(len(anchors)):
        s = scores_of(anchors[i], candidates, clip)
        positive, negative = roles(i, anchor_identity, candidate_identity, itself)
        rows.append(([s[j] for j in positive], [s[j] for j in negative]))
    return rows


def log_sum_exp(values):
    """Shifted by the largest value, so that the reference itself does not overflow."""
    if not values:
        return torch.tensor(-torch.inf, dtype=torch.float64)
    largest = max(v.item() for v in values)
    return largest + torch.log(sum(torch.exp(v - largest) for v in values))


def scaled_log_sum_exp(scale):
    return lambda values: log_sum_exp([scale * v for v in values])


def softplus_sum(values):
    total = torch.zeros((), dtype=torch.float64)
    for v in values:  # log(1 + e^v) = max(v, 0) + log(1 + e^-|v|)
        total = total + (v if v > 0 else 0.0) + torch.log1p(torch.exp(-abs(v)))
    return total


def square_sum(values):
    return sum((v * v for v in values), torch.zeros((), dtype=torch.float64))
