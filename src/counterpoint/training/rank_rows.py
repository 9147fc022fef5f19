"""The rows of a long memory, divided over a process group."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from torch import Tensor

from counterpoint.framework import Everyone
from counterpoint.framework.row_place import Found, Read, RowNumbers
from counterpoint.framework.sending import send
from counterpoint.training.checkpoints.divided_rows import rows_of_rank
from counterpoint.training.row_exchange import all_gather, ask_everyone, start_scatter

Unpack = Callable[[Tensor], Found]


@dataclass(frozen=True, slots=True, eq=False)
class RankRows:
    """Each rank holds its rows of N, as `rows_of_rank` says.

    Rows that all ranks want are gathered from their owners, who pad to the one that gives most.
    Rows that each rank wants for itself are summed: an owner gives its rows and zeros for others,
    and reduce_scatter brings each rank those that it asked for. Who wants what is known on the
    host, so that both are one collective, and nobody waits.
    """

    length: int
    rank: int
    ranks: int
    group: dist.ProcessGroup | None = None
    divided: ClassVar[bool] = True

    @property
    def held(self) -> range:
        return rows_of_rank(self.length, self.rank, self.ranks)

    def kept(self, rows: RowNumbers) -> tuple[RowNumbers, RowNumbers]:
        held = self.held
        at = ((rows >= held.start) & (rows < held.stop)).nonzero().flatten()
        return at, rows[at] - held.start

    def own(self, read: Read, wanted: RowNumbers, everyone: Everyone | None) -> Found:
        where = read(wanted[:0])[0].device
        known = everyone or ask_everyone(wanted, where, self.group)
        at, rows = self.kept(known.identity)
        mine, unpack = packed(read(rows))
        given = mine.new_zeros(len(known.identity), mine.shape[1])
        given[send(at, mine.device)] = mine
        return unpack(start_scatter(given, known.sizes, self.group)())

    def same(self, read: Read, wanted: RowNumbers) -> Found:
        places, longest = gathered_places(wanted, self.length, self.ranks)
        mine, unpack = packed(read(self.kept(wanted)[1]))
        given = mine.new_zeros(longest, mine.shape[1])
        given[: len(mine)] = mine
        there = mine.new_empty(self.ranks * longest, mine.shape[1])
        all_gather(there, given, group=self.group)
        return unpack(there[send(places, there.device)])

    def __deepcopy__(self, _memo: dict[int, Any]) -> "RankRows":
        """Return itself: a copy of a model has the same ranks."""
        return self


def gathered_places(wanted: RowNumbers, length: int, ranks: int) -> tuple[RowNumbers, int]:
    """Return where wanted rows stand behind a gather from their owners, and what each gives.

    Row i is held by rank floor(i / c), c = ceil(length / ranks). Each rank gives its rows in the
    order in which they are wanted, and as many as the rank that gives most.

    >>> gathered_places(torch.tensor([5, 0, 4, 4]), 6, 3)  # the third rank has rows 4 and 5
    (tensor([6, 0, 7, 8]), 3)
    """
    owner = wanted // max(1, -(-length // ranks))
    counts = owner.bincount(minlength=ranks)
    longest = max(1, int(counts.max()))
    order = owner.argsort(stable=True)
    before = (counts.cumsum(0) - counts)[owner[order]]
    places = torch.empty_like(order)
    places[order] = owner[order] * longest + torch.arange(len(order), device=owner.device) - before
    return places, longest


def packed(columns: Found) -> tuple[Tensor, Unpack]:
    """Return columns as one matrix of the first one's type, and what takes it apart again.

    >>> both, unpack = packed((torch.ones(2, 3), torch.tensor([True, False])))
    >>> both.shape, unpack(both)[1]
    (torch.Size([2, 4]), tensor([ True, False]))
    """
    flat = [
        column.reshape(len(column), column.shape[1:].numel()).to(columns[0].dtype)
        for column in columns
    ]
    widths = [one.shape[1] for one in flat]

    def unpack(rows: Tensor) -> Found:
        return tuple(
            part.to(column.dtype).reshape(len(rows), *column.shape[1:])
            for part, column in zip(rows.split(widths, dim=1), columns, strict=True)
        )

    return torch.cat(flat, dim=1), unpack
