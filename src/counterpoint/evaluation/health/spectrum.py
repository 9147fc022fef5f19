"""How many directions a representation uses: the spectrum of its vectors."""

import torch
from jaxtyping import Float
from torch import Tensor

FLOOR = 1e-7  # Garrido et al. 2023, section 3: epsilon of p_k, in fp32
FIRST, LAST = 4, 100  # ranks that alpha is fitted on: the authors' code, fastssl, train_model.py


def rankme(vectors: Float[Tensor, "sample feature"]) -> Float[Tensor, ""]:
    r"""Return the smooth rank of a matrix of vectors (Garrido et al. 2023, equation 1).

    $$ \exp\Big(-\sum_k p_k \log p_k\Big), \quad p_k = \sigma_k / \sum_j \sigma_j + 10^{-7} $$

    with the singular values sigma of the vectors as they are, not centred. It lies between 1 and
    the smaller of the two sides; non-finite vectors have nan.

    >>> round(float(rankme(torch.eye(5))), 4)
    5.0
    >>> round(float(rankme(torch.ones(5, 3))), 2)
    1.0
    """
    if not bool(vectors.isfinite().all()):
        return vectors.new_tensor(torch.nan, dtype=torch.float64)
    return smooth_rank(torch.linalg.svdvals(vectors.double()))


def smooth_rank(values: Float[Tensor, " value"]) -> Float[Tensor, ""]:
    """Return exp of the entropy of values that are not negative, with RankMe's floor.

    >>> round(float(smooth_rank(torch.tensor([3.0, 3.0, 0.0]))), 4)
    2.0
    """
    share = values / values.sum().clamp(min=torch.finfo(values.dtype).tiny) + FLOOR
    return torch.exp(-(share * share.log()).sum())


def alpha_req(vectors: Float[Tensor, "sample feature"]) -> Float[Tensor, ""]:
    r"""Return the exponent of the decay of the covariance's eigenvalues (Agrawal et al. 2022).

    $$ \lambda_k \propto k^{-\alpha}, $$

    a line through (log k, log lambda_k) by least squares. The paper says no more; the authors'
    code takes ranks 4 to 100 and weights 1 / k, so that every octave counts the same, and so do
    we. With fewer than 8 eigenvalues all ranks are taken. Eigenvalues that are only rounding are
    left out; nan where less than two are left.

    >>> x = torch.linalg.qr(torch.randn(200, 50, dtype=torch.float64))[0]
    >>> x = torch.linalg.qr(x - x.mean(0))[0]  # orthogonal columns without a mean
    >>> round(float(alpha_req(x / torch.arange(1, 51) ** 0.75)), 6)
    1.5
    """
    if not bool(vectors.isfinite().all()):
        return vectors.new_tensor(torch.nan, dtype=torch.float64)
    centred = vectors.double() - vectors.double().mean(dim=0)
    eigenvalues = torch.linalg.svdvals(centred).square() / max(1, len(vectors) - 1)
    first = FIRST if len(eigenvalues) >= 2 * FIRST else 1
    rank = torch.arange(first, min(LAST, len(eigenvalues)) + 1, device=vectors.device)
    chosen = eigenvalues[rank - 1]
    real = chosen > _rounding(vectors) * eigenvalues[:1]
    if int(real.sum()) < 2:
        return vectors.new_tensor(torch.nan, dtype=torch.float64)
    return -_slope(rank[real].double().log(), chosen[real].log(), 1 / rank[real].double())


def _rounding(vectors: Tensor) -> float:
    """Return the share of the largest eigenvalue below which there is only rounding."""
    return float((max(vectors.shape) * torch.finfo(vectors.dtype).eps) ** 2)


def _slope(
    x: Float[Tensor, " point"], y: Float[Tensor, " point"], weight: Float[Tensor, " point"]
) -> Float[Tensor, ""]:
    """Fit a line by weighted least squares and give its slope."""
    total = weight.sum()
    x, y = x - (weight * x).sum() / total, y - (weight * y).sum() / total
    return (weight * x * y).sum() / (weight * x * x).sum()
