"""Arrays of numpy as tensors."""

import numpy as np
import torch
from torch import Tensor


def numpy_tensor(array: np.ndarray) -> Tensor:
    """Share an array's memory; copy one that runs backwards, which torch does not take.

    >>> bgr = np.array([[3, 2, 1]], dtype=np.uint8)
    >>> numpy_tensor(bgr[..., ::-1])
    tensor([[1, 2, 3]], dtype=torch.uint8)
    """
    backwards = min(array.strides, default=0) < 0
    return torch.from_numpy(np.ascontiguousarray(array) if backwards else array)
