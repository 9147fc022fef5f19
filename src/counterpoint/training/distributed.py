"""The candidates of all ranks, with a gradient that comes back to where they were made."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float, Int64, Num
from torch import Tensor
from torch.autograd.function import once_differentiable

from counterpoint.data.order import share_sizes
from counterpoint.framework import ALONE, Everyone, Gathered, Samples, World
from counterpoint.framework.wire import SLICE_MEGABYTES, slices_for
from counterpoint.framework.world import Identify, Slices
from counterpoint.training.rank_slices import RankSlices
from counterpoint.training.row_exchange import (
    ask_everyone,
    ask_sizes,
    start_gather,
    start_scatter,
)


@dataclass(frozen=True, slots=True)
class Ranks:
    """All ranks of a process group, which may hold different numbers of candidates.

    A global batch, or its lanes, are split over the ranks as by `tensor_split`, so each knows how
    many images the others have, and with its sample numbers who their candidates are: nothing
    of that is exchanged. Labels are, where a part asks for them: whoever could not read an image
    shows another, with another label, and only that rank knows.

    Forward all_gather, backward reduce_scatter with SUM: each rank's loss depends on every
    rank's candidates, and DDP then takes the mean over ranks, as `contrast` expects.
    """

    group: dist.ProcessGroup | None = None
    batch: int | None = None
    """Images of all ranks in a step; None asks the ranks."""
    lanes: int = 1
    """Lanes that they come from; a rank has whole ones, if there are several."""
    samples: Int64[Tensor, " batch"] | None = None
    """Their numbers in this step, rank after rank, on the host; None asks the ranks."""
    labels: Int64[Tensor, " batch"] | None = None
    """Their labels, where a part asks for them."""
    budget: float = SLICE_MEGABYTES * 1e6
    """Bytes of the candidates of all ranks that come at once; more come in slices."""
    rounds: int | None = None
    """How many slices; None as the budget asks."""

    @property
    def size(self) -> int:
        return dist.get_world_size(self.group)

    @property
    def rank(self) -> int:
        return dist.get_rank(self.group)

    def images(self, own: int) -> tuple[int, ...]:
        if self.batch is None:
            return ask_sizes(own, _device(self.group), self.group)
        return self._shares()

    def everyone(self, identify: Identify) -> Everyone | None:
        """Identify all candidates at once: the ranks have one of two numbers of images."""
        if self.samples is None:
            return None
        shares = self._shares()
        larger = shares.count(shares[0])
        cut = [larger * shares[0], len(self.samples) - larger * shares[0]]
        known = [self.samples] if self.labels is None else [self.samples, self.labels]
        each = torch.vmap(lambda *known: identify(Samples(*known)))
        found = [
            each(*(column.view(-1, share) for column in block))
            for *block, share in zip(
                *(column.split(cut) for column in known), (shares[0], shares[-1]), strict=True
            )
            if len(block[0])
        ]
        identity = torch.cat([part.flatten() for part in found])
        sizes = sum(((part.shape[1],) * len(part) for part in found), ())
        return Everyone(identity, sizes)

    def gather(
        self,
        vectors: Num[Tensor, "own channel"],
        identity: Int64[Tensor, " own"],
        everyone: Everyone | None = None,
    ) -> Gathered:
        if everyone is None:
            everyone = ask_everyone(identity, vectors.device, self.group)
        return Gathered(
            vectors=_Gather.apply(vectors, everyone.sizes, self.group),
            identity=everyone.identity,
            start=sum(everyone.sizes[: self.rank]),
            sizes=everyone.sizes,
        )

    def slices(
        self, vectors: Float[Tensor, "own channel"], everyone: Everyone | None
    ) -> Slices | None:
        """Divide candidates where all of them are known; where the ranks ask, they come at once."""
        if everyone is None:
            return None
        rows, width = max(everyone.sizes), vectors.shape[1]
        size = vectors.element_size()
        asked = slices_for(rows, width, ranks=self.size, budget=self.budget, itemsize=size)
        count = min(rows, self.rounds or asked)
        return RankSlices(everyone, count, self.rank, self.group) if count > 1 else None

    def total(self, count: Float[Tensor, ""]) -> Float[Tensor, ""]:
        summed = count.clone()
        dist.all_reduce(summed, group=self.group)
        return summed

    def sum(self, values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        total: Tensor = _Sum.apply(values, self.group)
        return total

    def _shares(self) -> tuple[int, ...]:
        assert self.batch is not None
        return share_sizes(self.batch, lanes=self.lanes, ranks=self.size)


def world(
    batch: int | None = None, *, lanes: int = 1, budget: float = SLICE_MEGABYTES * 1e6
) -> World:
    """Return the ranks of this job, with `batch` images a step; a single process is alone."""
    several = dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
    return Ranks(batch=batch, lanes=lanes, budget=budget) if several else ALONE


def _device(group: dist.ProcessGroup | None) -> torch.device:
    """Return a device that the ranks can exchange numbers on."""
    return torch.device("cuda" if dist.get_backend(group) == "nccl" else "cpu")


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, own: Tensor, sizes: tuple[int, ...], group: dist.ProcessGroup | None
    ) -> Tensor:
        ctx.sizes, ctx.group = sizes, group
        return start_gather(own, sizes, group)()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return start_scatter(gradient, ctx.sizes, ctx.group)(), None, None


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
