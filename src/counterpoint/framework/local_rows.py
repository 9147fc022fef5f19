"""The rows of a sharded tensor that this process holds, without knowing who sharded it."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor


def is_sharded(tensor: Tensor) -> bool:
    """Return whether a tensor is one of several ranks, as torch's `DTensor` is.

    >>> is_sharded(torch.zeros(2))
    False
    """
    return hasattr(tensor, "to_local")


@torch.no_grad()
def local_rows(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Return this rank's rows of each tensor, which share its memory; a plain one is its own.

    >>> weight = torch.zeros(2)
    >>> local_rows([weight])[0] is weight
    True
    """
    return [_own(tensor) for tensor in tensors]


def _own(tensor: Any) -> Tensor:
    rows: Tensor = tensor.to_local() if is_sharded(tensor) else tensor
    return rows
