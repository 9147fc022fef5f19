"""Counts that a checkpoint keeps and the host knows: nobody waits for the device to read them."""

from typing import Any

import torch
from torch import nn

KNOWN = "known_counts"


def register_count(module: nn.Module, name: str) -> None:
    """Register a count that starts at 0: a buffer for checkpoints, a number for the host."""
    module.register_buffer(name, torch.zeros((), dtype=torch.int64))
    if not hasattr(module, KNOWN):
        setattr(module, KNOWN, {})
        module.register_load_state_dict_post_hook(_forget)
    getattr(module, KNOWN)[name] = 0


def count_of(module: nn.Module, name: str) -> int:
    """Read a count; only after a checkpoint was loaded does this look at the buffer.

    >>> module = nn.Module()
    >>> register_count(module, "steps")
    >>> add_to(module, "steps", 3)
    >>> count_of(module, "steps"), module.steps
    (3, tensor(3))
    """
    known: dict[str, int] = getattr(module, KNOWN)
    if name not in known:
        buffer = getattr(module, name)
        known[name] = 0 if buffer.is_meta else int(buffer)  # a copy for shapes alone has no count
    return known[name]


def add_to(module: nn.Module, name: str, more: int) -> None:
    """Count further, on the host and in the buffer."""
    known: dict[str, int] = getattr(module, KNOWN)
    known[name] = count_of(module, name) + more
    getattr(module, name).fill_(known[name])


def _forget(module: nn.Module, _keys: Any) -> None:
    getattr(module, KNOWN).clear()
