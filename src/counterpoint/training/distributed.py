"""The candidates of all ranks, with a gradient that comes back to where they were made."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float, Int64
from torch import Tensor
from torch.autograd.function import once_differentiable

from counterpoint.framework import ALONE, Gathered, World

# torch 2.14 renamed both; the old names warn there.
_all_gather = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
_reduce_scatter = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)


@dataclass(frozen=True, slots=True)
class Ranks:
    """All ranks of a process group, which may hold different numbers of candidates.

    Forward all_gather, backward reduce_scatter with SUM: each rank's loss depends on every
    rank's candidates, and DDP then takes the mean over ranks, as `contrast` expects.
    """

    group: dist.ProcessGroup | None = None

    @property
    def size(self) -> int:
        return dist.get_world_size(self.group)

    @property
    def rank(self) -> int:
        return dist.get_rank(self.group)

    def gather(
        self, vectors: Float[Tensor, "own channel"], identity: Int64[Tensor, " own"]
    ) -> Gathered:
        sizes = self._sizes(len(vectors), vectors.device)
        return Gathered(
            vectors=_Gather.apply(vectors, sizes, self.group),
            identity=_gather(identity, sizes, self.group),
            start=sum(sizes[: self.rank]),
        )

    def total(self, count: Float[Tensor, ""]) -> Float[Tensor, ""]:
        summed = count.clone()
        dist.all_reduce(summed, group=self.group)
        return summed

    def sum(self, values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return _Sum.apply(values, self.group)  # type: ignore[no-any-return]

    def _sizes(self, own: int, device: torch.device) -> list[int]:
        sizes = torch.zeros(self.size, dtype=torch.int64, device=device)
        _all_gather(sizes, torch.tensor([own], device=device), group=self.group)
        return [int(size) for size in sizes]


def world() -> World:
    """Give the ranks of this job; a single process is alone."""
    several = dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
    return Ranks() if several else ALONE


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, own: Tensor, sizes: list[int], group: dist.ProcessGroup | None) -> Tensor:
        ctx.sizes, ctx.group = sizes, group
        return _gather(own, sizes, group)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        sizes, group = ctx.sizes, ctx.group
        padded = torch.cat([_pad(part, max(sizes)) for part in gradient.split(sizes)])
        own = gradient.new_empty(max(sizes), *gradient.shape[1:])
        _reduce_scatter(own, padded, op=dist.ReduceOp.SUM, group=group)
        return own[: sizes[dist.get_rank(group)]], None, None


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, own: Tensor, group: dist.ProcessGroup | None) -> Tensor:
        ctx.group = group
        summed = own.clone()
        dist.all_reduce(summed, group=group)
        return summed

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        summed = gradient.contiguous().clone()
        dist.all_reduce(summed, group=ctx.group)
        return summed, None


def _gather(own: Tensor, sizes: list[int], group: dist.ProcessGroup | None) -> Tensor:
    """Gather rows; ranks with fewer pad, and the padding is cut off again."""
    longest = max(sizes)
    padded = own.new_empty(longest * len(sizes), *own.shape[1:])
    _all_gather(padded, _pad(own, longest), group=group)
    if min(sizes) == longest:
        return padded
    parts = padded.split(longest)
    return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])


def _pad(rows: Tensor, length: int) -> Tensor:
    missing = length - len(rows)
    if missing == 0:
        return rows.contiguous()
    return torch.cat([rows, rows.new_zeros(missing, *rows.shape[1:])])
