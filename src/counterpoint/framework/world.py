"""What a method may ask of the other ranks; the answer of a single process is here."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Float, Int64
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """The candidates of all ranks in rank order, and where this rank's own begin."""

    vectors: Float[Tensor, "candidate channel"]
    identity: Int64[Tensor, " candidate"]
    start: int


@runtime_checkable
class World(Protocol):
    """All ranks that train together."""

    @property
    def size(self) -> int: ...

    @property
    def rank(self) -> int: ...

    def gather(
        self, vectors: Float[Tensor, "own channel"], identity: Int64[Tensor, " own"], /
    ) -> Gathered:
        """Collect candidates; the gradient of each comes back summed over the ranks."""

    def total(self, count: Float[Tensor, ""], /) -> Float[Tensor, ""]:
        """Sum a count over the ranks."""

    def sum(self, values: Float[Tensor, "..."], /) -> Float[Tensor, "..."]:
        """Add tensors over the ranks; so is the gradient."""


@dataclass(frozen=True, slots=True)
class Alone:
    """One process: nothing to gather.

    >>> import torch
    >>> ALONE.gather(torch.zeros(3, 2), torch.arange(3)).start
    0
    """

    size: int = 1
    rank: int = 0

    def gather(
        self, vectors: Float[Tensor, "own channel"], identity: Int64[Tensor, " own"]
    ) -> Gathered:
        return Gathered(vectors, identity, 0)

    def total(self, count: Float[Tensor, ""]) -> Float[Tensor, ""]:
        return count

    def sum(self, values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return values


ALONE = Alone()
