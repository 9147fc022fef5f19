"""Long memories of a model that is trained by ranks: divided, lent, saved, and made whole again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from counterpoint.framework import World
from counterpoint.framework.row_place import (
    LentRows,
    LongMemory,
    RowNumbers,
    Whole,
    long_memories,
    row_buffer_names,
)
from counterpoint.training.checkpoints.background import gathered
from counterpoint.training.checkpoints.divided_rows import DividedRows
from counterpoint.training.checkpoints.talk import Talk
from counterpoint.training.rank_rows import RankRows

BY_ROW = ".by_row"
"""Behind the name of a buffer in a checkpoint, where its rows come first and ranks share them."""


def hold_rows(module: nn.Module, world: World, group: dist.ProcessGroup | None = None) -> bool:
    """Let each rank keep its rows of every long memory; return whether any was divided.

    DDP sends the buffers of rank 0 to all others when it wraps a module, and is told not to.
    """
    for _, memory in long_memories(module):
        several = RankRows(memory.length, world.rank, world.size, group)
        memory.hold(several if world.size > 1 else Whole(memory.length))
    names = row_buffer_names(module, divided=True)
    if names:
        nn.parallel.DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(
            module, sorted(names)
        )
    return bool(names)


def rows_to_save(module: nn.Module, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state in which divided buffers stand as the rows that this rank holds."""
    found = dict(state)
    for key, memory, dim in _divided(module):
        rows = found.pop(key).movedim(dim, 0)
        found[key + BY_ROW] = DividedRows(rows, memory.place.held.start, memory.length)
    return found


def rows_to_load(module: nn.Module, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state with the rows that this rank holds, however they were saved."""
    found = dict(state)
    for name, memory in long_memories(module):
        for buffer, dim in memory.row_buffers.items():
            key, held = _key(name, buffer), memory.place.held
            if key + BY_ROW in found:
                rows = found.pop(key + BY_ROW)
                start = rows.start if isinstance(rows, DividedRows) else 0
                own = (rows.own if isinstance(rows, DividedRows) else rows).movedim(0, dim)
                found[key] = own.narrow(dim, held.start - start, len(held))
            elif key in found and found[key].shape[dim] == memory.length:
                found[key] = found[key].narrow(dim, held.start, len(held))
    return found


def lend_rows(module: nn.Module, index: RowNumbers) -> dict[str, LentRows]:
    """Bring what a step with some samples reads to every rank; all ranks have to ask."""
    lent = {}
    for name, memory in long_memories(module):
        if memory.place.divided:
            rows = memory.needed(index)
            lent[name] = LentRows(rows, memory.place.same(memory.read, rows))
    return lent


@contextmanager
def borrowed(module: nn.Module, lent: Mapping[str, LentRows]) -> Iterator[None]:
    """Let memories of a module read the rows that were lent to it, for a while."""
    parts: dict[str, Any] = {name: module.get_submodule(name) for name in lent}
    before = {name: part.place for name, part in parts.items()}
    for name, part in parts.items():
        part.place = lent[name]
    try:
        yield
    finally:
        for name, part in parts.items():
            part.place = before[name]


@torch.no_grad()
def whole_memory(module: nn.Module, into: nn.Module | None, device: torch.device) -> None:
    """Bring divided memories together in a module of rank 0; all ranks have to ask.

    `into` is None on the others, which exchange bytes on `device`. A memory that is too large is
    left out: checkpoints have it.
    """
    for name, memory in list(long_memories(module)):
        if not memory.place.divided:
            continue
        found: dict[str, Tensor] = {}
        for buffer, dim in {} if memory.by_row else memory.row_buffers.items():
            rows = getattr(memory, buffer).movedim(dim, 0)
            leaf = DividedRows(rows, memory.place.held.start, memory.length)
            whole = gathered({buffer: leaf}, Talk.of_job(device))[buffer]
            assert isinstance(whole, DividedRows)
            found[buffer] = whole.own.movedim(0, dim)
        if into is not None:
            there = into.get_submodule(name)
            assert isinstance(there, LongMemory)
            there.become_whole(found)


def _key(name: str, buffer: str) -> str:
    return f"{name}.{buffer}" if name else buffer


def _divided(module: nn.Module) -> Iterator[tuple[str, LongMemory, int]]:
    for name, memory in long_memories(module):
        if memory.place.divided:
            for buffer, dim in memory.row_buffers.items():
                yield _key(name, buffer), memory, dim
