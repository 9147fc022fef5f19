"""The nearest others of vectors: exact among all, or exact inside cells and those beside."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor

from counterpoint.curation.cells import CELL, CHUNK, LEARN, Cells, drawn_rows, sphere_cells
from counterpoint.progress import tracked

EXACT = 50_000  # vectors up to which all are compared with all: about a minute of one core
NEAREST = 16  # others that are kept of each vector; our choice
BESIDE = (
    4  # cells besides its own that a vector is compared with; docs/curate.md has what it misses
)
TILE = 2_048  # queries at a time

Rows = Float[Tensor, "vector feature"]
"""Vectors as the encoder gave them, in half precision or not."""


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """The k nearest of each query by cosine, nearest first; what is missing is -1 and -inf."""

    index: Int64[Tensor, "query near"]
    cosine: Float32[Tensor, "query near"]
    products: int
    """Cosines that were computed."""


@dataclass(frozen=True, slots=True, eq=False)
class Rooms:
    """Vectors sorted into cells; one room without cells where there are few."""

    vectors: Rows
    members: list[Int64[Tensor, " _"]]
    """The numbers of the vectors in each cell."""
    looked: Int64[Tensor, "cell near"]
    """The cells that a vector of each cell is compared with."""
    cells: Cells | None

    def nearest(
        self,
        queries: Float[Tensor, "query feature"],
        own: Int64[Tensor, " query"],
        *,
        count: int = NEAREST,
    ) -> Near:
        """Find the nearest vectors of each query, without `own`, the vector that it stands for."""
        count = min(count, len(self.vectors) - 1)
        index = torch.full((len(queries), count), -1)
        cosine = torch.full((len(queries), count), -torch.inf)
        groups = self.place(queries).argsort(stable=True)
        sizes = self.place(queries).bincount(minlength=len(self.members)).tolist()
        work = [
            (c, rows) for c, all_of in enumerate(groups.split(sizes)) for rows in all_of.split(TILE)
        ]
        products = 0
        for cell, rows in tracked(work, f"comparing {len(queries):,} images"):
            known = torch.cat([self.members[number] for number in self.looked[cell].tolist()])
            near = directions(queries[rows]) @ directions(self.vectors[known]).T
            near[known[None] == own[rows, None]] = -torch.inf
            best = near.topk(min(count, len(known)), dim=1)
            index[rows, : best.values.shape[1]] = known[best.indices]
            cosine[rows, : best.values.shape[1]] = best.values
            products += near.numel()
        return Near(index.masked_fill(cosine == -torch.inf, -1), cosine, products)

    def place(self, queries: Float[Tensor, "query feature"]) -> Int64[Tensor, " query"]:
        """Return the cell of each query."""
        if self.cells is None:
            return torch.zeros(len(queries), dtype=torch.int64)
        return torch.cat(
            [self.cells.nearest(directions(part)) for part in queries.split(8 * CHUNK)]
        )


def rooms(
    vectors: Rows, *, exact: int = EXACT, beside: int = BESIDE, cell: int = CELL, seed: int = 0
) -> Rooms:
    """Sort vectors so that their nearest others are found: n cosines a vector, or fewer.

    Up to `exact` vectors are compared with all. Above, the sphere is cut into n / `cell` cells,
    and a vector is compared with those of its own cell and of the nearest ones beside it: about
    (1 + beside) `cell` cosines, whatever n is. A near-duplicate is missed only where it lies in a
    cell that is not looked at.

    >>> line = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.1, 1.0]])
    >>> rooms(line).nearest(line, torch.arange(3), count=1).index.tolist()
    [[2], [2], [1]]
    """
    count = len(vectors)
    if count <= exact:
        return Rooms(vectors, [torch.arange(count)], torch.zeros(1, 1, dtype=torch.int64), None)
    many = -(-count // cell)
    learn = directions(drawn_rows(vectors, LEARN * many, seed))
    cells = sphere_cells(learn, count=many, seed=seed)
    parts = tracked(vectors.split(8 * CHUNK), f"sorting {count:,} images into {many:,} cells")
    groups = torch.cat([cells.nearest(directions(part)) for part in parts])
    sizes = groups.bincount(minlength=len(cells)).tolist()
    members = list(groups.argsort(stable=True).split(sizes))
    return Rooms(vectors, members, cells.beside(beside), cells)


def directions(vectors: Float[Tensor, "*all feature"]) -> Float32[Tensor, "*all feature"]:
    """Return the vectors scaled to length 1; zeros stay zeros.

    >>> directions(torch.tensor([[0.0, 2.0], [0.0, 0.0]])).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return torch.nn.functional.normalize(vectors.float(), dim=-1)
