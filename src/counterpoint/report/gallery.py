"""Nearest neighbours: what the encoder takes for alike among the user's own images."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

CHUNK = 1_000  # queries at a time: memory does not grow with them


def nearest_images(
    vectors: Float[Tensor, "sample feature"], *, count: int
) -> tuple[Int64[Tensor, "sample near"], Float[Tensor, "sample near"]]:
    """Find for every vector the others nearest by cosine, and the cosines, nearest first.

    >>> index, cosine = nearest_images(torch.tensor([[1.0, 0.0], [0.0, 3.0], [0.1, 1.0]]), count=1)
    >>> index.tolist()
    [[2], [2], [1]]
    """
    known = F.normalize(vectors.float(), dim=1)
    count = min(count, len(known) - 1)
    index, cosine = [], []
    for first, part in enumerate(known.split(CHUNK)):
        near = part @ known.T
        own = torch.arange(len(part))
        near[own, own + first * CHUNK] = -torch.inf  # an image is not a neighbour of its own
        best = near.topk(count, dim=1)
        index.append(best.indices)
        cosine.append(best.values)
    return torch.cat(index), torch.cat(cosine)


def queries(labels: Int64[Tensor, " sample"] | None, samples: int, *, count: int) -> list[int]:
    """Choose images to look up: evenly spread, or the first of each label in turn.

    >>> queries(None, 100, count=4)
    [0, 25, 50, 75]
    >>> queries(torch.tensor([1, 1, 0, 0, 1]), 5, count=3)
    [0, 2, 1]
    """
    if labels is None:
        return [place * samples // count for place in range(min(count, samples))]
    seen: dict[int, int] = {}
    turns = []
    for place, label in enumerate(labels.tolist()):
        turns.append((seen.get(label, 0), place))
        seen[label] = seen.get(label, 0) + 1
    return [place for _, place in sorted(turns)[:count]]


def agreement(labels: Int64[Tensor, " sample"], index: Int64[Tensor, "sample near"]) -> float:
    """Return the share of all neighbours that carry the label of their query."""
    return float((labels[index] == labels[:, None]).double().mean())


def guessing_share(labels: Int64[Tensor, " sample"]) -> float:
    r"""Return the share that random neighbours would have, $\sum_c n_c (n_c - 1) / n (n - 1)$.

    >>> guessing_share(torch.tensor([0, 0, 1, 1]))
    0.3333333333333333
    """
    counts, total = labels.bincount(), len(labels)
    return int((counts * (counts - 1)).sum()) / (total * (total - 1))
