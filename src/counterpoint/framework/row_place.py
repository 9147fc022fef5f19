"""Where the rows of a long memory are: in this process, or divided over the ranks.

A part that remembers something of every sample asks its place for rows, and does not know who
holds them (docs/decisions/0042-the-bank-divided-by-rows.md).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import torch
from jaxtyping import Int64
from torch import Tensor, nn

from counterpoint.framework.world import Everyone

RowNumbers = Int64[Tensor, " _"]
"""Which rows, on the host or a device."""

Found = tuple[Tensor, ...]
"""Some columns of the rows that were asked for; each has these rows first."""

Read = Callable[[RowNumbers], Found]
"""Reads rows that this process holds; they are counted from the first of them."""


@runtime_checkable
class RowPlace(Protocol):
    """Who holds which rows of a memory."""

    @property
    def held(self) -> range:
        """The rows that this process holds."""

    @property
    def divided(self) -> bool:
        """Whether other processes hold other rows."""

    def own(self, read: Read, wanted: RowNumbers, everyone: Everyone | None, /) -> Found:
        """Return rows that this rank wants; `everyone` says which ones all ranks want."""

    def same(self, read: Read, wanted: RowNumbers, /) -> Found:
        """Return rows that all ranks want: the same ones."""

    def kept(self, rows: RowNumbers, /) -> tuple[RowNumbers | slice, RowNumbers]:
        """Return which of some rows this process holds: their places in the list, and in it."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All rows are in this process.

    >>> import torch
    >>> table = torch.arange(4.0)
    >>> Whole(4).same(lambda rows: (table[rows],), torch.tensor([3, 1]))
    (tensor([3., 1.]),)
    """

    length: int
    divided: ClassVar[bool] = False

    @property
    def held(self) -> range:
        return range(self.length)

    def own(
        self,
        read: Read,
        wanted: RowNumbers,
        everyone: Everyone | None,  # noqa: ARG002 (nobody else holds any)
    ) -> Found:
        return read(wanted)

    def same(self, read: Read, wanted: RowNumbers) -> Found:
        return read(wanted)

    def kept(self, rows: RowNumbers) -> tuple[slice, RowNumbers]:
        return slice(None), rows


@dataclass(frozen=True, slots=True, eq=False)
class LentRows:
    """Some rows that were brought to this process, to be read and not written.

    >>> import torch
    >>> lent = LentRows(torch.tensor([7, 2]), (torch.tensor([0.7, 0.2]),))
    >>> lent.same(lambda rows: (), torch.tensor([2, 2, 7]))
    (tensor([0.2000, 0.2000, 0.7000]),)
    """

    rows: RowNumbers
    found: Found
    held: ClassVar[range] = range(0)
    divided: ClassVar[bool] = True

    def own(self, read: Read, wanted: RowNumbers, everyone: Everyone | None) -> Found:  # noqa: ARG002
        return self.same(read, wanted)

    def same(self, read: Read, wanted: RowNumbers) -> Found:  # noqa: ARG002 (nothing is held here)
        ordered, order = self.rows.sort()
        at = order[_where(ordered, wanted)]
        return tuple(column[at.to(column.device)] for column in self.found)

    def kept(self, rows: RowNumbers) -> tuple[RowNumbers, RowNumbers]:
        return rows[:0], rows[:0]


def _where(ordered: RowNumbers, wanted: RowNumbers) -> RowNumbers:
    found = torch.searchsorted(ordered, wanted)
    missing = found.clamp(max=len(ordered) - 1)
    if not bool((ordered[missing] == wanted).all()):
        raise KeyError("rows were asked for that were not lent")
    return found


@runtime_checkable
class LongMemory(Protocol):
    """A module with buffers that have a row for every sample; ranks may divide them by rows."""

    row_buffers: ClassVar[dict[str, int]]
    """Their names, and the dimension of the rows."""
    length: int
    """Rows of all ranks together."""
    place: RowPlace
    by_row: bool
    """Whether it is so large that each row is drawn where it is held, and never all of them."""

    def hold(self, place: RowPlace, /) -> None:
        """Keep the rows of a place, and no others."""

    def become_whole(self, buffers: Mapping[str, Tensor], /) -> None:
        """Take buffers with all rows; one that is drawn by row lets go of its rows instead."""

    def read(self, rows: RowNumbers, /) -> Found:
        """Read rows that this process holds."""

    def needed(self, index: RowNumbers, /) -> RowNumbers:
        """Return the rows that a step with some samples reads."""


def long_memories(module: nn.Module) -> Iterator[tuple[str, LongMemory]]:
    """Yield every long memory inside of a module, with its name."""
    for name, part in module.named_modules():
        if isinstance(part, LongMemory):
            yield name, part


def row_buffer_names(module: nn.Module, *, divided: bool = False) -> frozenset[str]:
    """Return the buffers that have a row for every sample; only those that ranks have divided.

    >>> row_buffer_names(nn.Linear(2, 2))
    frozenset()
    """
    return frozenset(
        f"{name}.{buffer}" if name else buffer
        for name, memory in long_memories(module)
        if memory.place.divided or not divided
        for buffer in memory.row_buffers
    )
