"""Rows that ranks gather, and gradients that they reduce and scatter, while others are at work.

Ranks may have different numbers of rows. They pad to the longest, and what was padded is cut off
again, in as many pieces as there are numbers in a row: two, however many ranks there are.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import torch
import torch.distributed as dist
from torch import Tensor

from counterpoint.framework import Everyone
from counterpoint.framework.world import Arrival

# torch 2.14 renamed both; the old names warn there.
all_gather = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
_reduce_scatter = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)


def start_gather(
    own: Tensor, sizes: Sequence[int], group: dist.ProcessGroup | None = None
) -> Arrival:
    """Begin to gather rows of all ranks; the call of what is returned waits for them."""
    longest = max(sizes)
    padded = own.new_empty(longest * len(sizes), *own.shape[1:])
    given = _pad(own, longest)
    work = all_gather(padded, given, group=group, async_op=True)
    assert work is not None

    def arrive(keep: Tensor = given) -> Tensor:  # what is sent has to live until it is
        work.wait()
        del keep
        return _without_padding(padded, sizes)

    return arrive


def start_scatter(
    gradient: Tensor, sizes: Sequence[int], group: dist.ProcessGroup | None = None
) -> Arrival:
    """Begin to sum the gradient of rows of all ranks; this rank's rows arrive."""
    longest, rank = max(sizes), dist.get_rank(group)
    parts = _with_padding(gradient, sizes, longest)
    own = gradient.new_empty(longest, *gradient.shape[1:])
    work = _reduce_scatter(own, parts, op=dist.ReduceOp.SUM, group=group, async_op=True)
    assert work is not None

    def arrive(keep: Tensor = parts) -> Tensor:
        work.wait()
        del keep
        return own[: sizes[rank]]

    return arrive


def ask_sizes(
    own: int, device: torch.device, group: dist.ProcessGroup | None = None
) -> tuple[int, ...]:
    """Ask every rank how many rows it has; the host waits for the answer."""
    sizes = torch.zeros(dist.get_world_size(group), dtype=torch.int64, device=device)
    all_gather(sizes, torch.tensor([own], device=device), group=group)
    return tuple(sizes.tolist())


def ask_everyone(
    identity: Tensor, device: torch.device, group: dist.ProcessGroup | None = None
) -> Everyone:
    """Ask every rank whose its rows are; they travel from device to device."""
    sizes = ask_sizes(len(identity), device, group)
    there = start_gather(identity.to(device), sizes, group)()
    return Everyone(there.to(identity.device), sizes)


def cut_rows(rows: Tensor, sizes: Sequence[int], cut: Callable[[int], slice]) -> Tensor:
    """Return some rows of every rank, as `cut` says for a rank that has so many.

    >>> cut_rows(torch.arange(5), (2, 2, 1), lambda size: slice(size - 1, size))
    tensor([1, 3, 4])
    """
    found, first = [], 0
    for some, size in _runs(sizes):
        count = some.stop - some.start
        each = rows[first : first + count * size].view(count, size, *rows.shape[1:])
        found.append(each[:, cut(size)].flatten(0, 1))
        first += count * size
    return torch.cat(found)


def _without_padding(padded: Tensor, sizes: Sequence[int]) -> Tensor:
    longest = max(sizes)
    if min(sizes) == longest:
        return padded
    ranks = padded.view(len(sizes), longest, *padded.shape[1:])
    return torch.cat([ranks[some, :size].flatten(0, 1) for some, size in _runs(sizes)])


def _with_padding(rows: Tensor, sizes: Sequence[int], longest: int) -> Tensor:
    if min(sizes) == longest:
        return rows.contiguous()
    padded = rows.new_zeros(len(sizes), longest, *rows.shape[1:])
    first = 0
    for some, size in _runs(sizes):
        count = some.stop - some.start
        each = rows[first : first + count * size].view(count, size, *rows.shape[1:])
        padded[some, :size] = each
        first += count * size
    return padded.flatten(0, 1)


def _runs(sizes: Sequence[int]) -> Iterator[tuple[slice, int]]:
    """Give neighbouring ranks of one size together.

    >>> list(_runs((3, 3, 2)))
    [(slice(0, 2, None), 3), (slice(2, 3, None), 2)]
    """
    first = 0
    for size, some in groupby(sizes):
        count = len(list(some))
        yield slice(first, first + count), size
        first += count


def _pad(rows: Tensor, length: int) -> Tensor:
    missing = length - len(rows)
    if missing == 0:
        return rows.contiguous()
    return torch.cat([rows, rows.new_zeros(missing, *rows.shape[1:])])
