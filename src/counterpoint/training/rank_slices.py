"""The candidates of all ranks in slices, over a process group."""

from dataclasses import dataclass

import torch.distributed as dist
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import Everyone
from counterpoint.framework.records import NOBODY
from counterpoint.framework.wire import part
from counterpoint.framework.world import Arrival
from counterpoint.training.row_exchange import cut_rows, start_gather, start_scatter


@dataclass(frozen=True, slots=True, eq=False)
class RankSlices:
    """Slice g has the g-th part of every rank's candidates, rank after rank."""

    everyone: Everyone
    count: int
    rank: int
    group: dist.ProcessGroup | None = None

    @property
    def elsewhere(self) -> int:
        return sum(self.everyone.sizes) - self.everyone.sizes[self.rank]

    def identity(self, number: int) -> Int64[Tensor, " slice"]:
        sizes = self.everyone.sizes
        found = cut_rows(self.everyone.identity, sizes, lambda size: part(size, number, self.count))
        found[self.own_columns(number)] = NOBODY
        return found

    def own_columns(self, number: int) -> slice:
        sizes = self._sizes(number)
        first = sum(sizes[: self.rank])
        return slice(first, first + sizes[self.rank])

    def own_rows(self, number: int) -> slice:
        return part(self.everyone.sizes[self.rank], number, self.count)

    def fetch(self, own: Float[Tensor, "own channel"], number: int) -> Arrival:
        return start_gather(own[self.own_rows(number)], self._sizes(number), self.group)

    def give_back(self, gradient: Float[Tensor, "slice channel"], number: int) -> Arrival:
        return start_scatter(gradient, self._sizes(number), self.group)

    def _sizes(self, number: int) -> tuple[int, ...]:
        """Return how many candidates each rank gives to a slice."""
        sizes = self.everyone.sizes
        cut = {size: part(size, number, self.count) for size in set(sizes)}
        given = {size: some.stop - some.start for size, some in cut.items()}
        return tuple(map(given.__getitem__, sizes))  # no Python for each rank
