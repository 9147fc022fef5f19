"""Tensors of which each rank holds some rows: which ones, and how they are cut."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor


@dataclass(frozen=True, slots=True, eq=False)
class DividedRows:
    """Rows of a tensor that is divided over the ranks: from `start` on, of `length` in all."""

    own: Tensor
    start: int
    length: int

    @property
    def whole(self) -> bool:
        """Whether these are all rows."""
        return len(self.own) == self.length


def rows_of_rank(length: int, rank: int, ranks: int) -> range:
    """Return the rows of a rank, as `torch.chunk` and FSDP2 cut them; the last ranks may have none.

    c = ceil(length / ranks); rank r has rows r c to (r + 1) c, as far as there are any.

    >>> [rows_of_rank(5, rank, 4) for rank in range(4)]
    [range(0, 2), range(2, 4), range(4, 5), range(5, 5)]
    """
    each = -(-length // ranks)
    return range(min(rank * each, length), min((rank + 1) * each, length))


def local_part(tensor: "DTensor") -> DividedRows | Tensor:
    """Return what this rank holds of a DTensor: rows, or all of it where it is replicated."""
    from torch.distributed.tensor import Replicate, Shard

    local = tensor.to_local()
    match tensor.placements:
        case (Replicate(),):
            return local
        case (Shard(dim=0),):
            mesh = tensor.device_mesh
            rows = rows_of_rank(len(tensor), mesh.get_local_rank(), mesh.size())
            if len(rows) == len(local):
                return DividedRows(local, rows.start, len(tensor))
    raise TypeError(
        f"a DTensor placed as {tensor.placements} on {tensor.device_mesh}; needs rows over all "
        "ranks (Shard(0) on a mesh of one dimension)"
    )


def distributed_rows(tensor: Tensor, mesh: "DeviceMesh") -> "DTensor":
    """Make a DTensor of rows of a whole tensor that every rank has; the ranks do not talk."""
    rows = rows_of_rank(len(tensor), mesh.get_local_rank(), mesh.size())
    return as_distributed(
        DividedRows(tensor[rows.start : rows.stop], rows.start, len(tensor)), mesh
    )


def as_distributed(rows: DividedRows, mesh: "DeviceMesh") -> "DTensor":
    """Make a DTensor of what this rank holds, on the device of the mesh."""
    import torch
    from torch.distributed.tensor import DTensor, Shard

    shape = torch.Size((rows.length, *rows.own.shape[1:]))
    stride = torch.empty(shape, device="meta").stride()
    own = rows.own.to(mesh.device_type)
    return DTensor.from_local(own, mesh, [Shard(0)], run_check=False, shape=shape, stride=stride)
