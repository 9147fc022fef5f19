"""Intrinsic dimension: how many numbers a representation needs near each of its points."""

import torch
from jaxtyping import Float
from torch import Tensor

CHUNK = 512
"""Rows of distances that are held at once."""


def intrinsic_dimension(vectors: Float[Tensor, "sample feature"]) -> float:
    r"""Return the dimension by two neighbours, as a maximum of likelihood (Facco et al. 2017).

    $$ d = \frac{n - 1}{\sum_i \log (r_{i2} / r_{i1})} $$

    with the distances to the first and the second neighbour, over the n points whose first
    neighbour is not a duplicate; n - 1 makes the estimate unbiased. nan without such points.

    >>> line = torch.rand(2000, 1, dtype=torch.float64) * torch.randn(1, 10, dtype=torch.float64)
    >>> 0.9 < intrinsic_dimension(line) < 1.1
    True
    """
    points = vectors.double()
    ratios = []
    for start in range(0, len(points), CHUNK):
        some = points[start : start + CHUNK]
        distance = torch.cdist(some, points, compute_mode="donot_use_mm_for_euclid_dist")
        here = torch.arange(len(some), device=points.device)
        distance[here, start + here] = torch.inf
        first, second = distance.topk(2, largest=False).values.unbind(dim=1)
        ratios.append((second / first)[first > 0])
    logs = torch.cat(ratios).log()
    return float((len(logs) - 1) / logs.sum()) if len(logs) > 1 else torch.nan
