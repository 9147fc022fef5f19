"""Cells of the sphere: k-means of directions, in one level or in two."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

Unit = Float[Tensor, "vector feature"]
"""Vectors of length 1."""

CELL = 1_000  # vectors that a cell holds on average; our choice, see docs/curate.md for the cost
ONE_LEVEL = 1_024  # more cells than these are found in two levels
LEARN = 64  # vectors a cell that centres are learned from: more moves them little
ROUNDS = 10  # of Lloyd's algorithm
CHUNK = 8_192  # vectors at a time: memory does not grow with them


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Directions of the centres; in two levels those of one parent stand together."""

    centres: Float[Tensor, "cell feature"]
    parents: Float[Tensor, "parent feature"] | None = None
    starts: Int64[Tensor, " parent_and_one"] | None = None
    """Children of parent p are starts[p] to starts[p + 1]."""

    def __len__(self) -> int:
        return len(self.centres)

    def nearest(self, vectors: Unit) -> Int64[Tensor, " vector"]:
        """Return the cell of each vector; in two levels the nearest child of the nearest parent."""
        if self.parents is None or self.starts is None:
            return _nearest(vectors, self.centres)
        parent = _nearest(vectors, self.parents)
        found = torch.zeros(len(vectors), dtype=torch.int64)
        order = parent.argsort(stable=True)
        counts = parent.bincount(minlength=len(self.parents)).tolist()
        for number, rows in enumerate(order.split(counts)):
            first, last = int(self.starts[number]), int(self.starts[number + 1])
            if len(rows):
                found[rows] = first + _nearest(vectors[rows], self.centres[first:last])
        return found

    def beside(self, count: int) -> Int64[Tensor, "cell near"]:
        """Return for each cell itself and the `count` cells whose centres are nearest to its."""
        count = min(count + 1, len(self))
        parts = [(part @ self.centres.T).topk(count).indices for part in self.centres.split(CHUNK)]
        return torch.cat(parts)


def sphere_cells(vectors: Unit, *, count: int, seed: int = 0) -> Cells:
    r"""Cut the sphere into cells by k-means of directions; above 1,024 cells in two levels.

    Centres are learned from at most 64 vectors a cell, drawn by the seed. One level of K cells
    costs $2 K d$ operations a vector and round, two levels $4 \sqrt K d$.

    >>> around = torch.tensor([[1.0, 0.0], [0.96, 0.28], [0.0, 1.0], [0.28, 0.96]])
    >>> cells = sphere_cells(around, count=2)
    >>> a, b, c, d = cells.nearest(around).tolist()
    >>> a == b, c == d, a == c
    (True, True, False)
    """
    count = min(count, len(vectors))
    learn = drawn_rows(vectors, LEARN * count, seed)
    if count <= ONE_LEVEL:
        return Cells(_lloyd(learn, count, seed))
    above = round(count**0.5)
    parents = _lloyd(drawn_rows(learn, LEARN * above, seed + 1), above, seed)
    groups = _nearest(learn, parents)
    sizes = groups.bincount(minlength=len(parents))
    centres, starts = [], [0]
    for number, size in enumerate(sizes.tolist()):
        share = min(size, max(1, round(count * size / len(learn))))
        inside = learn[groups == number]
        centres.append(_lloyd(inside, share, seed + number) if size else parents[number][None])
        starts.append(starts[-1] + len(centres[-1]))
    return Cells(torch.cat(centres), parents, torch.tensor(starts))


def _lloyd(points: Unit, count: int, seed: int) -> Float[Tensor, "cell feature"]:
    """Move centres to the mean directions of their points; an empty one goes to a drawn point."""
    generator = torch.Generator().manual_seed(seed)
    centres = _spread(points, count, generator)
    before = None
    for _ in range(ROUNDS):
        groups = _nearest(points, centres)
        if before is not None and torch.equal(groups, before):
            break
        before = groups
        sums = torch.zeros_like(centres).index_add_(0, groups, points)
        empty = (groups.bincount(minlength=len(centres)) == 0).nonzero().flatten()
        drawn = torch.randint(len(points), (len(empty),), generator=generator)
        centres = F.normalize(sums, dim=1)
        centres[empty] = points[drawn]
    return centres


def _spread(points: Unit, count: int, generator: torch.Generator) -> Float[Tensor, "cell feature"]:
    """Draw the first centres far apart, by their squared distances (k-means++, 2007).

    Drawn evenly, centres would all lie where there is most, and rare things would have none.
    """
    draws = torch.rand(count, generator=generator, dtype=torch.float64)
    chosen = [int(draws[0] * len(points))]
    near = points @ points[chosen[0]]
    for draw in draws[1:]:
        apart = (2 - 2 * near).clamp(min=1e-7).double().cumsum(0)
        chosen.append(min(int(torch.searchsorted(apart, draw * apart[-1])), len(points) - 1))
        near = torch.maximum(near, points @ points[chosen[-1]])
    return points[chosen].clone()


def _nearest(vectors: Unit, centres: Float[Tensor, "cell feature"]) -> Int64[Tensor, " vector"]:
    return torch.cat([(part @ centres.T).argmax(dim=1) for part in vectors.split(CHUNK)])


def drawn_rows(
    vectors: Float[Tensor, "vector feature"], count: int, seed: int
) -> Float[Tensor, "_ feature"]:
    """Draw rows without replacement, in their order; all where there are no more.

    >>> drawn_rows(torch.arange(3.0)[:, None], 9, 0).flatten().tolist()
    [0.0, 1.0, 2.0]
    """
    if len(vectors) <= count:
        return vectors
    generator = torch.Generator().manual_seed(seed)
    return vectors[torch.randperm(len(vectors), generator=generator)[:count].sort().values]
