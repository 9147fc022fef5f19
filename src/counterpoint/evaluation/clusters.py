"""Groups of vectors that point the same way, for images without labels."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

CLUSTERS = 8  # our choice: as many as eyes tell apart on one plane
ROUNDS = 50  # our choice: most end long before, when nothing changes
STARTS = 10  # the tightest of ten is kept, as in scikit-learn: one start is often bad


def k_means(
    vectors: Float[Tensor, "sample feature"],
    *,
    clusters: int = CLUSTERS,
    starts: int = STARTS,
    seed: int = 0,
) -> Int64[Tensor, " sample"]:
    """Group vectors by direction; the largest group is number 0.

    Lloyd's algorithm on vectors of length 1, begun as k-means++ (Arthur and Vassilvitskii 2007);
    the tightest groups of some starts are kept.

    >>> k_means(torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.1, 2.0]]), clusters=2).tolist()
    [1, 0, 0]
    """
    points = F.normalize(vectors.double(), dim=1)
    found = [_lloyd(points, min(clusters, len(points)), seed + n) for n in range(starts)]
    groups, _ = min(found, key=lambda one: one[1])
    sizes = groups.bincount(minlength=clusters)
    return sizes.argsort(descending=True, stable=True).argsort()[groups]


def _lloyd(points: Tensor, clusters: int, seed: int) -> tuple[Tensor, float]:
    """Move centres to the means of their points until nothing changes; give the spread too."""
    centres = _spread(points, clusters, seed)
    groups = torch.cdist(points, centres).argmin(dim=1)
    for _ in range(ROUNDS):
        sums = torch.zeros_like(centres).index_add_(0, groups, points)
        counts = groups.bincount(minlength=clusters)[:, None]
        centres = torch.where(counts > 0, sums / counts.clamp(min=1), centres)
        moved = torch.cdist(points, centres).argmin(dim=1)
        if torch.equal(moved, groups):
            break
        groups = moved
    return groups, float((points - centres[groups]).square().sum())


def _spread(points: Tensor, clusters: int, seed: int) -> Tensor:
    """Draw centres far from each other: each by its squared distance to those before."""
    generator = torch.Generator().manual_seed(seed)
    chosen = [int(torch.randint(len(points), (1,), generator=generator))]
    while len(chosen) < clusters:
        apart = torch.cdist(points, points[chosen]).min(dim=1).values.square()
        apart = apart if float(apart.sum()) > 0 else torch.ones_like(apart)
        chosen.append(int(torch.multinomial(apart, 1, generator=generator)))
    return points[chosen]
