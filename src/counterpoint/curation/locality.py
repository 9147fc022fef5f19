"""How near two images are, measured by how crowded the place is where they lie.

Two different motorbikes before white have a cosine of 0.95 with ImageNet's features, a flamingo and
its cropped copy 0.83: a cosine alone does not tell a crowd from a copy. Distances are therefore
divided by the scale of the neighbourhood, as in Lowe's ratio test (2004) and in self-tuning
clustering (Zelnik-Manor and Perona 2004).
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

TOLD = 1e-3  # distance that is told from 0: cosines in fp32 are off by up to 5e-7
FLOOR = 0.25  # of the median scale: in a crowd of more than 16 copies all others are copies


def distance(cosine: Float[Tensor, "*all"]) -> Float[Tensor, "*all"]:
    r"""Return the distance on the unit sphere, $d = \sqrt{2 - 2 \cos}$; 0 below 0.001.

    >>> distance(torch.tensor([1.0, 0.5, -1.0])).tolist()
    [0.0, 1.0, 2.0]
    """
    found = (2 - 2 * cosine).clamp(min=0).sqrt()
    return found.masked_fill(found < TOLD, 0.0)


def local_scales(cosine: Float[Tensor, "vector near"]) -> Float[Tensor, " vector"]:
    r"""Return the mean distance to the farther half of the k nearest, $\sigma_i$.

    The nearer half may be copies. No scale is less than a quarter of the median one, or than 0.001:
    where most images are equal, the median is 0.

    >>> local_scales(torch.tensor([[1.0, 1.0, 0.5, 0.5]])).tolist()
    [1.0]
    """
    far = distance(cosine[:, cosine.shape[1] // 2 :])
    there = far.isfinite()
    scale = far.where(there, torch.zeros_like(far)).sum(1) / there.sum(1).clamp(min=1)
    whole = scale[there.any(1)]
    typical = whole.median() if len(whole) else scale.new_tensor(1.0)
    return scale.where(there.any(1), typical).clamp(min=max(FLOOR * float(typical), TOLD))


def scaled_distances(
    cosine: Float[Tensor, "vector near"],
    index: Int64[Tensor, "vector near"],
    own: Float[Tensor, " vector"],
    scales: Float[Tensor, " known"],
) -> Float[Tensor, "vector near"]:
    r"""Return $r_{ij} = d_{ij} / \sqrt{\sigma_i \sigma_j}$ for the nearest of each vector.

    Missing neighbours are at infinity. Every pair with r up to 1 is in the list of one of the two,
    as $d \le \max(\sigma_i, \sigma_j)$ is at most the distance to the farthest one in that list.
    """
    found = distance(cosine) / (own[:, None] * scales[index.clamp(min=0)]).sqrt()
    return found.masked_fill(index < 0, torch.inf)
