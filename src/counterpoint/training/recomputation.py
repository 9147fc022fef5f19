"""Activation checkpointing: keep the input of each block, and compute the rest again."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

from torch import nn
from torch.utils.checkpoint import checkpoint

from counterpoint.framework.blocks import blocks_of


def recompute_blocks(network: nn.Module) -> tuple[nn.Module, ...]:
    """Let every block of a network be computed again in the backward pass; return the blocks.

    Names of weights stay. A block inside of another is computed with it.

    >>> layer = nn.TransformerEncoderLayer(8, 2)
    >>> network = nn.TransformerEncoder(layer, num_layers=3, enable_nested_tensor=False)
    >>> len(recompute_blocks(network))
    3
    """
    inside: set[nn.Module] = set()
    found = []
    for block in blocks_of(network):
        if block not in inside:
            _recompute(block)
            inside.update(block.modules())
            found.append(block)
    return tuple(found)


def keep_activations(blocks: Iterable[nn.Module]) -> None:
    """Let blocks that were computed again keep their activations, as before."""
    for block in blocks:
        del block.forward


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
