"""A model whose weights, gradients and optimiser states are shared out over the ranks."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard

from counterpoint.framework import Model, Momentum, PartError
from counterpoint.framework.blocks import blocks_of
from counterpoint.framework.momentum import uncompiled
from counterpoint.framework.row_place import row_buffer_names


def shard_model(model: Model, mesh: DeviceMesh, *, compiled: bool = False) -> None:
    """Share out the weights of a model by rows, in place: blocks, the twin, then the rest.

    A block is gathered when it is called and let go behind it, forward and backward. What belongs
    to no block is gathered for a whole step, that of a twin for its own pass. (An encoder of its
    own would give slices of its maps, behind which torch loses sight of a change in place.)
    """
    _refuse_scalars(model)
    same_weights(model, mesh)
    model.to(memory_format=torch.contiguous_format)  # rows of weights are what is shared out
    if compiled and isinstance(model.encoder, nn.Module):
        uncompiled(model.encoder)
    for block in reversed(blocks_of(model)):
        if compiled:
            block.compile()
        fully_shard(block, mesh=mesh, reshard_after_forward=True)
    if isinstance(model.encoder, Momentum):
        fully_shard(model.encoder.twin, mesh=mesh, reshard_after_forward=True)
    fully_shard(model, mesh=mesh)


@torch.no_grad()
def same_weights(model: nn.Module, mesh: DeviceMesh) -> None:
    """Send the weights of rank 0 to all ranks: a module of a user's own may have drawn others.

    Rows of a memory that ranks have divided are not the same, and stay.
    """
    group, apart = mesh.get_group(), row_buffer_names(model, divided=True)
    buffers = [buffer for name, buffer in model.named_buffers() if name not in apart]
    for tensor in (*model.parameters(), *buffers):
        sent = tensor.to(mesh.device_type, memory_format=torch.contiguous_format)
        dist.broadcast(sent, group_src=0, group=group)
        tensor.copy_(sent)


def _refuse_scalars(model: nn.Module) -> None:
    for name, weight in model.named_parameters():
        if weight.ndim == 0:
            part, _, place = name.partition(".")
            raise PartError(
                part,
                got=f"{place}, a weight without dimensions, which has no rows to share out",
                needs="weights of one dimension or more",
                do="give it the shape (1,), or train with strategy ddp",
            )
