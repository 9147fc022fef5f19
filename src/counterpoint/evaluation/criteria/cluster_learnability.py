"""Cluster learnability: whether neighbours agree about the clusters of a representation."""

from math import nan

import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.evaluation.clusters import k_means

CLUSTERS = 50  # our choice; the authors vary it (Lu et al. 2022)
STARTS = 3  # our choice: of random weights the share differs by 0.01 between starts
CHUNK = 64
"""Vectors that are predicted at once from all that stand before them."""


def cluster_learnability(
    vectors: Float[Tensor, "sample feature"], *, clusters: int = CLUSTERS, seed: int = 0
) -> float:
    """Return how often the nearest neighbour before a sample has its cluster (Lu et al. 2022).

    Vectors are grouped by k-means. Then the samples come in order, and the group of each is
    predicted from the nearest of those before its chunk: a representation whose groups are
    learned from few samples has a high share of right answers.

    >>> import torch
    >>> corners = torch.eye(3).repeat(100, 1) + 0.01 * torch.randn(300, 3)
    >>> cluster_learnability(corners, clusters=3)
    1.0
    """
    return prequential(vectors, k_means(vectors, clusters=clusters, starts=STARTS, seed=seed))


def prequential(
    vectors: Float[Tensor, "sample feature"], groups: Int64[Tensor, " sample"], chunk: int = CHUNK
) -> float:
    """Return the share of samples, from the second chunk on, whose group was predicted right.

    It is nan for no more samples than a chunk has: nothing is predicted.

    >>> import torch
    >>> prequential(torch.eye(2)[[0, 1, 0, 1]], torch.tensor([0, 1, 0, 1]), chunk=2)
    1.0
    """
    unit = F.normalize(vectors, dim=1)
    right = 0
    for start in range(chunk, len(unit), chunk):
        nearest = (unit[start : start + chunk] @ unit[:start].T).argmax(dim=1)
        right += int((groups[nearest] == groups[start : start + chunk]).sum())
    return right / (len(unit) - chunk) if len(unit) > chunk else nan
