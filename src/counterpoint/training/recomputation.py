"""Activation checkpointing: keep the input of each block, and compute the rest again."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

from torch import nn
from torch.utils.checkpoint import checkpoint

from counterpoint.framework.blocks import blocks_of


def recompute_blocks(network: nn.Module) -> int:
    """Let every block of a network be computed again in the backward pass; return how many.

    Names of weights stay. Only outermost blocks are: what is inside of one is computed with it.
    """
    inside: set[nn.Module] = set()
    count = 0
    for block in blocks_of(network):
        if block not in inside:
            _recompute(block)
            inside.update(block.modules())
            count += 1
    return count


def _recompute(block: nn.Module) -> None:
    forward = block.forward

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), _buffers_of_a_copy(block)

    again: Any = partial(checkpoint, forward, use_reentrant=False, context_fn=contexts)
    block.forward = again


@contextmanager
def _buffers_of_a_copy(block: nn.Module) -> Iterator[None]:
    """Let running statistics, which have seen this batch already, not see it again."""
    held = [
        (module, name, buffer)
        for module in block.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]
    for module, name, buffer in held:
        module._buffers[name] = buffer.clone()
    try:
        yield
    finally:
        for module, name, buffer in held:
            module._buffers[name] = buffer
