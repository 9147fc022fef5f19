"""The precision of scores."""

import torch
from torch import Tensor


def at_least_fp32(vectors: Tensor) -> Tensor:
    """Widen half precision; scores are summed in fp32 at least, also under autocast.

    >>> at_least_fp32(torch.zeros(1, dtype=torch.bfloat16)).dtype
    torch.float32
    """
    return vectors if vectors.dtype == torch.float64 else vectors.float()
