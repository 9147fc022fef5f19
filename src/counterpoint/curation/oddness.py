"""Images unlike all others."""

import torch
from jaxtyping import Float
from torch import Tensor

DEVIATIONS = 3.0  # below the median; our choice
QUARTILE = 0.6745  # of a normal law, in standard deviations


def closeness(cosine: Float[Tensor, "image near"]) -> Float[Tensor, " image"]:
    """Return the mean cosine of each image to its nearest others; missing ones are left out.

    >>> closeness(torch.tensor([[0.75, 0.25], [0.5, -torch.inf]])).tolist()
    [0.5, 0.5]
    """
    there = cosine.isfinite()
    return cosine.where(there, torch.zeros_like(cosine)).sum(1) / there.sum(1).clamp(min=1)


def odd_cut(scores: Float[Tensor, " image"]) -> float:
    r"""Return the score below which an image is an outlier: $m - 3 (m - q_1) / 0.6745$.

    m is the median and q_1 the lower quartile, so that neither outliers nor copies, which are
    near something, move it. Of a normal law 0.13 % would lie below.

    >>> round(odd_cut(torch.tensor([0.6, 0.7, 0.8, 0.8, 0.9])), 2)
    0.36
    """
    lower, middle = torch.quantile(_few(scores), torch.tensor([0.25, 0.5])).tolist()
    return float(middle - DEVIATIONS * (middle - lower) / QUARTILE)


def _few(scores: Float[Tensor, " image"]) -> Float[Tensor, " some"]:
    """Take evenly spread scores: torch's quantile refuses more than 16 million."""
    return scores[:: -(-len(scores) // 1_000_000)].float()
