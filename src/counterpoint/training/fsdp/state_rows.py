"""States of sharded weights: from a whole tensor to this rank's rows."""

from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from counterpoint.framework.local_rows import is_sharded
from counterpoint.training.checkpoints.divided_rows import rows_of_rank


def rows_of(whole: Tensor, weight: DTensor) -> Tensor:
    """Return the rows of a whole tensor that this rank has of a weight of the same shape.

    They are those of `torch.chunk`: the last ranks may have fewer, or none.
    """
    mesh = weight.device_mesh
    rows = rows_of_rank(len(whole), mesh.get_local_rank(), mesh.size())
    return whole[rows.start : rows.stop].clone(memory_format=torch.contiguous_format)


def like_weight(rows: Tensor, weight: DTensor) -> DTensor:
    """Say of a rank's rows that they are part of a tensor that is sharded as a weight is."""
    return DTensor.from_local(
        rows,
        weight.device_mesh,
        weight.placements,
        run_check=False,
        shape=weight.shape,
        stride=weight.stride(),
    )


def as_sharded(value: Any, weight: Any) -> Any:
    """Return a whole value in the form of a weight, which may be sharded."""
    if not isinstance(weight, DTensor) or not isinstance(value, Tensor) or is_sharded(value):
        return value
    if value.numel() != weight.numel():
        return value  # who loads it says what is wrong
    return like_weight(rows_of(value.reshape(weight.shape).to(weight.device), weight), weight)
