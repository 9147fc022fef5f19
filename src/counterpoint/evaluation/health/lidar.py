"""LiDAR: how many directions tell images apart more than their own views do."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.evaluation.health.spectrum import smooth_rank

DELTA = 1e-4  # Thilak et al. 2024, section 3: added to the diagonal of Sigma_w


def lidar(
    vectors: Float[Tensor, "sample feature"], image: Int64[Tensor, " sample"]
) -> Float[Tensor, ""]:
    r"""Return the smooth rank of the LDA matrix whose classes are images (Thilak et al. 2024).

    $$ \Sigma_b = E_x (\mu_x - \mu)(\mu_x - \mu)^T, \quad
       \Sigma_w = E_x E_{v | x} (e - \mu_x)(e - \mu_x)^T + 10^{-4} I, $$

    the smooth rank of Sigma_w^{-1/2} Sigma_b Sigma_w^{-1/2}, as in `rankme`, for several views v
    of each image x. The authors take 50 views of 1,000 images; with two views Sigma_w is known
    badly, and not at all in the directions beyond images x (views - 1).

    >>> corners = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> round(float(lidar(corners.repeat(2, 1), torch.arange(4).repeat(2))), 2)
    2.0
    >>> noisy = torch.cat([corners + torch.tensor([9.0, 0.0]), corners - torch.tensor([9.0, 0.0])])
    >>> round(float(lidar(noisy, torch.arange(4).repeat(2))), 2)  # only the second tells them apart
    1.0
    """
    if not bool(vectors.isfinite().all()):
        return vectors.new_tensor(torch.nan, dtype=torch.float64)
    vectors = vectors.double()
    _, who, count = image.unique(return_inverse=True, return_counts=True)
    mean = vectors.new_zeros(len(count), vectors.shape[1]).index_add(0, who, vectors)
    mean /= count[:, None]
    apart = mean - mean.mean(dim=0)
    between = apart.mT @ apart / len(count)
    spread = (vectors - mean[who]) / (len(count) * count[who]).double().sqrt()[:, None]
    within = spread.mT @ spread
    half = _inverse_root(within + DELTA * torch.eye(len(within), device=within.device))
    return smooth_rank(torch.linalg.eigvalsh(half @ between @ half).clamp(min=0))


def _inverse_root(matrix: Float[Tensor, "row row"]) -> Float[Tensor, "row row"]:
    """Return A^(-1/2) of a symmetric positive matrix."""
    values, directions = torch.linalg.eigh(matrix)
    root: Tensor = (directions * values.rsqrt()) @ directions.mT
    return root
