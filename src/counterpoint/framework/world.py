"""What a method may ask of the other ranks; the answer of a single process is here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from jaxtyping import Float, Int64, Num
from torch import Tensor

from counterpoint.framework.batch_samples import Samples

Identify = Callable[[Samples], Tensor]
"""The identities of a rank's candidates, as a function of its samples."""


@dataclass(frozen=True, slots=True, eq=False)
class Everyone:
    """The identities of all ranks' candidates, on the host and without asking, in rank order.

    >>> import torch
    >>> ranks = Everyone(torch.tensor([0, 1, 2, 3, 4]), sizes=(2, 3))
    >>> ranks.identity.split(ranks.sizes)
    (tensor([0, 1]), tensor([2, 3, 4]))
    """

    identity: Int64[Tensor, " candidate"]
    sizes: tuple[int, ...]
    """How many of them each rank has."""


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """The candidates of all ranks in rank order, and where this rank's own begin.

    >>> import torch
    >>> all_ranks = Gathered(torch.zeros(5, 8), torch.arange(5), start=2, sizes=(2, 3))
    >>> all_ranks.identity[all_ranks.start :]
    tensor([2, 3, 4])
    """

    vectors: Num[Tensor, "candidate channel"]
    identity: Int64[Tensor, " candidate"]
    start: int
    sizes: tuple[int, ...] = ()
    """How many of them each rank has; empty where a world does not say."""

    def views(self, own: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Return how many candidates each rank has of each view, if this one has `own` of each.

        >>> import torch
        >>> Gathered(torch.zeros(10, 2), torch.zeros(10).long(), 6, (6, 4)).views((2, 2))
        ((3, 3), (2, 2))
        """
        whole = sum(own)
        if not whole:
            return ()
        known = {size: tuple(size * each // whole for each in own) for size in set(self.sizes)}
        return tuple(map(known.__getitem__, self.sizes))  # no Python for each rank


Arrival = Callable[[], Tensor]
"""Rows that are on their way: the call waits for them, on a device without the host."""


@runtime_checkable
class Slices(Protocol):
    """The candidates of all ranks in rounds: in each, every rank gives a part of its own.

    A rank has its own candidates already, so it walks around them: `own_columns`.
    """

    @property
    def count(self) -> int: ...

    @property
    def elsewhere(self) -> int:
        """How many candidates the other ranks have."""

    def identity(self, number: int, /) -> Int64[Tensor, " slice"]:
        """Return whose the candidates of a slice are, on the host; those of this rank `NOBODY`."""

    def own_columns(self, number: int, /) -> slice:
        """Return where this rank's candidates stand in a slice."""

    def own_rows(self, number: int, /) -> slice:
        """Return which of this rank's candidates are in a slice."""

    def fetch(self, own: Float[Tensor, "own channel"], number: int, /) -> Arrival:
        """Begin to collect a slice from all ranks."""

    def give_back(self, gradient: Float[Tensor, "slice channel"], number: int, /) -> Arrival:
        """Begin to sum the gradient of a slice over the ranks; this rank's rows arrive."""


@runtime_checkable
class World(Protocol):
    """All ranks that train together, a protocol: what a part may ask of them."""

    @property
    def size(self) -> int:
        """The number of ranks."""

    @property
    def rank(self) -> int:
        """The number of this rank, from 0."""

    def images(self, own: int, /) -> tuple[int, ...]:
        """Return how many images each rank has in a step in which this one has `own`."""

    def everyone(self, identify: Identify, /) -> Everyone | None:
        """Identify the candidates of all ranks, where their samples are known."""

    def gather(
        self,
        vectors: Num[Tensor, "own channel"],
        identity: Int64[Tensor, " own"],
        everyone: Everyone | None = None,
        /,
    ) -> Gathered:
        """Collect candidates; the gradient of each comes back summed over the ranks.

        Without `everyone` the ranks exchange sizes and identities, and the host waits for them.
        """

    def slices(
        self, vectors: Float[Tensor, "own channel"], everyone: Everyone | None, /
    ) -> Slices | None:
        """Divide the candidates of all ranks into slices; None where they fit at once."""

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

    def images(self, own: int) -> tuple[int, ...]:
        return (own,)

    def everyone(self, identify: Identify) -> None:  # noqa: ARG002 (there is nobody else)
        return None

    def gather(
        self,
        vectors: Num[Tensor, "own channel"],
        identity: Int64[Tensor, " own"],
        everyone: Everyone | None = None,  # noqa: ARG002 (there is nobody else)
    ) -> Gathered:
        return Gathered(vectors, identity, 0, (len(vectors),))

    def slices(
        self,
        vectors: Float[Tensor, "own channel"],  # noqa: ARG002 (there is nobody else)
        everyone: Everyone | None,  # noqa: ARG002
    ) -> None:
        return None

    def total(self, count: Float[Tensor, ""]) -> Float[Tensor, ""]:
        return count

    def sum(self, values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return values


ALONE = Alone()
"""The world of a single process."""


@dataclass(frozen=True, slots=True)
class Once:
    """A world in which the same candidates are gathered once, however often they are compared."""

    world: World
    in_slices: bool = False
    """Whether the loss can take them in slices."""
    known: list[tuple[Tensor, Tensor, Gathered]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.world.size

    @property
    def rank(self) -> int:
        return self.world.rank

    def images(self, own: int) -> tuple[int, ...]:
        return self.world.images(own)

    def everyone(self, identify: Identify) -> Everyone | None:
        return self.world.everyone(identify)

    def gather(
        self,
        vectors: Num[Tensor, "own channel"],
        identity: Int64[Tensor, " own"],
        everyone: Everyone | None = None,
    ) -> Gathered:
        for known, whose, found in self.known:
            if known is vectors and whose is identity:
                return found
        found = self.world.gather(vectors, identity, everyone)
        self.known.append((vectors, identity, found))
        return found

    def slices(
        self, vectors: Float[Tensor, "own channel"], everyone: Everyone | None
    ) -> Slices | None:
        return self.world.slices(vectors, everyone) if self.in_slices else None

    def total(self, count: Float[Tensor, ""]) -> Float[Tensor, ""]:
        return self.world.total(count)

    def sum(self, values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return self.world.sum(values)
