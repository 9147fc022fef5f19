"""What a step costs: parameters, memory and operations, counted on the meta device."""

import copy
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import torch
from torch import nn

from counterpoint.framework import Method, Model
from counterpoint.framework.records import View
from counterpoint.framework.settings import Training
from counterpoint.training.step_count import count_step

Built = TypeVar("Built")
NUMBER = 4  # bytes of a float


@dataclass(frozen=True, slots=True)
class Memory:
    """The bytes that one rank needs for a step."""

    weights: int
    """Weights, the gradients of those that are trained, and the optimiser's states of them."""
    activations: int

    @property
    def total(self) -> int:
        return self.weights + self.activations


def trained_parameters(model: Model) -> int:
    """Count the parameters that are trained: a momentum twin's are not."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def memory_of(model: Model, training: Training, *, ranks: int = 1) -> Memory:
    """Estimate the memory of a rank; views and scores come on top."""
    every, trained = sum(p.numel() for p in model.parameters()), trained_parameters(model)
    views = len(model.views.shapes) * training.micro_batch // ranks
    shared = ranks if training.strategy == "fsdp2" else 1
    return Memory(
        weights=(every + trained * (1 + training.states)) * NUMBER // shared,
        activations=views * activation_numbers(model) * NUMBER,
    )


def memory_there() -> int:
    """Return the bytes of the first GPU, or of this machine."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_properties(0).total_memory
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def activation_numbers(model: Model) -> int:
    """Count the numbers that the encoder keeps for one view: the output of every layer."""
    assert isinstance(model.encoder, nn.Module)
    seen = shadow(model.encoder)
    counted = 0

    def count(_module: object, _inputs: object, output: object) -> None:
        nonlocal counted
        if isinstance(output, torch.Tensor):
            counted += output.numel()

    hooks = [m.register_forward_hook(count) for m in seen.modules() if not list(m.children())]
    seen(blank_views(model, images=2))
    for hook in hooks:
        hook.remove()
    return counted // (2 * len(model.views.shapes))


def blank_views(model: Model, *, images: int) -> tuple[View, ...]:
    """Make views on the meta device, as narrow or wide as the weights are."""
    width = next((p.dtype for p in model.parameters()), torch.float32)
    shapes = model.views.shapes
    return tuple(torch.empty(images, *shape, device="meta", dtype=width) for shape in shapes)


def shadow(part: Built) -> Built:
    """Copy a part to the meta device; its weights, its queue or its bank are not copied first."""
    if not isinstance(part, nn.Module):
        return copy.deepcopy(part)
    memo: dict[int, object] = {
        id(p): nn.Parameter(torch.empty_like(p, device="meta"), requires_grad=p.requires_grad)
        for p in part.parameters()
    }
    memo |= {id(b): torch.empty_like(b, device="meta") for b in part.buffers()}
    return copy.deepcopy(part, memo)


@lru_cache(maxsize=64)
def step_flops(method: Method, image: tuple[int, ...], batch: int) -> float:
    """Count the floating-point operations of a step of a single process: forward and backward.

    Views and the optimiser are not counted.
    """
    return count_step(method, image, batch, views=False).flops
