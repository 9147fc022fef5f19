"""The plain model of a sharded one: for a look at it, and for the files of a run."""

import copy
from typing import Any

import torch
from torch import Tensor, nn

from counterpoint.framework import Model
from counterpoint.framework.local_rows import is_sharded


def whole_tensor(tensor: Tensor) -> Tensor:
    """Return all rows of a tensor, which all ranks of a sharded one have to ask for."""
    sharded: Any = tensor
    found: Tensor = sharded.full_tensor() if is_sharded(tensor) else tensor
    return found.detach()


@torch.no_grad()
def whole_model(
    sharded: Model, skeleton: Model, *, keep: bool, device: torch.device | None = None
) -> Model | None:
    """Return a plain copy of a sharded model, on a device, to the rank that keeps it.

    All ranks call it and send their rows, one tensor after the other, so that the others hold one
    whole tensor at a time. `skeleton` is a copy on the meta device from before it was sharded.
    """
    whole = copy.deepcopy(skeleton) if keep else None
    made: dict[int, Tensor] = {}
    for name, weight in sharded.named_parameters(remove_duplicate=False):
        if id(weight) not in made:
            found = whole_tensor(weight)
            made[id(weight)] = found.to(device, copy=True) if keep else found[:0]
        if whole is not None:
            owner, own = _place(whole, name)
            plain = nn.Parameter(made[id(weight)], requires_grad=weight.requires_grad)
            owner.register_parameter(own, plain)
    if whole is None:
        return None
    for name, buffer in sharded.named_buffers(remove_duplicate=False):
        owner, own = _place(whole, name)
        owner._buffers[own] = buffer.detach().to(device, copy=True)
    return whole


def _place(model: nn.Module, name: str) -> tuple[nn.Module, str]:
    path, _, own = name.rpartition(".")
    return model.get_submodule(path), own
