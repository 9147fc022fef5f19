"""A few images that stand for all of them."""

import torch
import torch.nn.functional as F
from jaxtyping import Int64
from torch import Tensor

from counterpoint.curation.balanced import balanced_sample
from counterpoint.curation.cells import CHUNK, Unit
from counterpoint.curation.neighbourhoods import Rows, directions
from counterpoint.progress import tracked

GREEDY = 1_000_000  # images up to which centres are chosen one by one


def selected(
    vectors: Rows, count: int, *, greedy: int = GREEDY, seed: int = 0
) -> Int64[Tensor, " chosen"]:
    """Choose `count` vectors that cover all: by centres up to a million, by clusters above."""
    if count >= len(vectors):
        return torch.arange(len(vectors))
    if len(vectors) > greedy:
        return balanced_sample(vectors, count, seed=seed)
    pointing = directions(vectors)
    return typical(pointing, farthest_first(pointing, count)).sort().values


def farthest_first(vectors: Unit, count: int) -> Int64[Tensor, " chosen"]:
    """Choose centres greedily: each is the vector farthest from those before (Gonzalez 1985).

    The first is nearest to the mean. The largest distance of a vector to its centre is at most
    twice the least possible. Costs n d multiplications a centre.

    >>> line = F.normalize(torch.tensor([[1.0, 0.0], [1.0, 0.2], [1.0, 0.1], [0.0, 1.0]]), dim=1)
    >>> farthest_first(line, 2).tolist()
    [1, 3]
    """
    chosen = torch.empty(count, dtype=torch.int64)
    nearest = torch.full((len(vectors),), -torch.inf)
    centre = F.normalize(vectors.mean(dim=0), dim=0)
    best = int((vectors @ centre).argmax())
    for place in tracked(range(count), f"choosing {count:,} of {len(vectors):,} images"):
        chosen[place] = best
        nearest = torch.maximum(nearest, vectors @ vectors[best])
        nearest[best] = torch.inf  # two equal vectors are not chosen twice for being far from none
        best = int(nearest.argmin())
    return chosen


def typical(vectors: Unit, chosen: Int64[Tensor, " chosen"]) -> Int64[Tensor, " chosen"]:
    """Replace each centre by the vector of its cell that is nearest to the cell's mean direction.

    The farthest vectors are often outliers, which stand for nothing but themselves.

    >>> fan = F.normalize(torch.tensor([[1.0, -0.2], [1.0, 0.0], [1.0, 0.1], [1.0, 0.2]]), dim=1)
    >>> typical(fan, torch.tensor([0])).tolist()
    [1]
    """
    centres = vectors[chosen]
    cells = torch.cat([(part @ centres.T).argmax(dim=1) for part in vectors.split(CHUNK)])
    cells[chosen] = torch.arange(len(chosen))
    means = F.normalize(torch.zeros_like(centres).index_add_(0, cells, vectors), dim=1)
    near = (vectors * means[cells]).sum(dim=1)
    # Sorted by cell and then by nearness, the first of each cell is the one.
    order = near.argsort(descending=True, stable=True)
    order = order[cells[order].argsort(stable=True)]
    starts = cells.bincount(minlength=len(chosen)).cumsum(0).roll(1)
    starts[0] = 0
    return order[starts]
