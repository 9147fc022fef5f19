"""Lengths of tensors whose rows lie on several ranks, in one exchange."""

from collections.abc import Sequence

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework.local_rows import local_rows


def lengths_over_ranks(
    tensors: Sequence[Tensor], group: dist.ProcessGroup | None = None
) -> Float[Tensor, " tensor"]:
    r"""Return the length of each tensor of which every rank of a group has some rows.

    $$ \|w\| = \sqrt{\sum_r \|w_r\|^2} $$
    """
    squares = torch.stack(torch._foreach_norm(local_rows(tensors))) ** 2
    dist.all_reduce(squares, group=group)
    return squares.sqrt()
