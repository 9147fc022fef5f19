"""How candidates travel between ranks: the number of slices, bytes on the wire, bytes held.

Pure arithmetic: `training/rank_slices.py` does what is counted here, `counterpoint plan` asks
before there are any ranks, and a test compares both on 1,024 of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

SLICE_MEGABYTES = 64  # a slice of the whole batch; chosen by us: docs/decisions/0037


def slices_for(rows: int, width: int, *, ranks: int, budget: float, itemsize: int = 4) -> int:
    """Return in how many slices candidates come, so that one of all ranks fits a budget in bytes.

    A rank gives at least one of its `rows` candidates to each slice.

    >>> slices_for(256, 128, ranks=1024, budget=64e6)  # SimCLR, 128 images a rank: 134 MB
    3
    >>> slices_for(64 * 49, 2560, ranks=1024, budget=64e6)  # AMDIM, 65,536 images: 33 GB
    523
    >>> slices_for(64, 128, ranks=8, budget=64e6)
    1
    """
    if ranks == 1:
        return 1
    fitting = int(budget // (ranks * width * itemsize))  # candidates of a rank in a slice
    return min(max(1, rows), -(-rows // max(1, fitting)))


def part(rows: int, number: int, count: int) -> slice:
    """Return which of N rows are in one of `count` slices; their numbers differ by one at most.

    >>> [part(5, number, 3) for number in range(3)]
    [slice(0, 1, None), slice(1, 3, None), slice(3, 5, None)]
    """
    return slice(rows * number // count, rows * (number + 1) // count)


def longest_parts(sizes: Sequence[int], count: int) -> tuple[int, ...]:
    """Return how many rows a rank gives to each slice, the same on all ranks: shorter ones pad.

    >>> longest_parts((6, 6, 5), 2), longest_parts((7, 5), 2)
    ((3, 3), (3, 4))
    """
    different = set(sizes)
    return tuple(
        max(rows * (number + 1) // count - rows * number // count for rows in different)
        for number in range(count)
    )


@dataclass(frozen=True, slots=True)
class Exchange:
    """Rows that every rank gives to all others in a step, in one go or in slices.

    In one go they are gathered once, and their gradient is reduced and scattered. In slices they
    are gathered `walks` times by the forward pass and once more by the backward pass.

    >>> at_once = Exchange(rows=256, width=128, gradient=True)
    >>> in_slices = Exchange(rows=256, width=128, gradient=True, slices=16)
    >>> at_once.bytes(1024) / 1e6, in_slices.bytes(1024) / 1e6  # a gather more
    (268.173312, 402.259968)
    >>> in_slices.held(1024) / at_once.held(1024)
    0.125
    """

    rows: int
    """Of the rank that has most."""
    width: int
    gradient: bool
    """Whether their gradient comes back."""
    slices: int = 1
    walks: int = 1
    """Forward gathers in slices: 1 for a softmax, 2 for the hardest negative."""
    itemsize: int = 4
    sizes: tuple[int, ...] = ()
    """Rows of every rank, where these differ."""
    scattered: bool = False
    """Rows of a bank that each rank wants for itself: reduced and scattered, not gathered."""

    @property
    def given(self) -> int:
        """Rows that a rank gives to one gather, padding included."""
        return sum(longest_parts(self.sizes or (self.rows,), self.slices))

    def gathers(self) -> int:
        """Return how often each row is gathered."""
        if self.scattered:
            return 0
        return 1 if self.slices == 1 else self.walks + 1

    def scatters(self) -> int:
        """Return how often each row is reduced and scattered."""
        return self.gradient + self.scattered

    def collectives(self) -> int:
        """Return how many collectives a step makes of it, whatever the number of ranks."""
        return self.slices * (self.gathers() + self.scatters())

    def bytes(self, ranks: int) -> int:
        """Return what one rank receives and sends: gathers, and its reduce-scatter."""
        times = self.gathers() + self.scatters()
        return (ranks - 1) * self.given * self.width * self.itemsize * times

    def held(self, ranks: int) -> int:
        """Return the memory of gathered rows and their gradient at most.

        In slices two of them are there at once, and two gradients: one of each is travelling.
        """
        one = ranks * max(longest_parts(self.sizes or (self.rows,), self.slices))
        at_once = 1 if self.slices == 1 else 2
        return one * self.width * self.itemsize * at_once * (1 + self.gradient)
