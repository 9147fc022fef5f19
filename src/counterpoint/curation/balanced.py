"""Hierarchical k-means and balanced sampling: rare things count as much as common ones.

After Vo et al. 2024, "Automatic data curation for self-supervised learning": k-means of the
vectors, then k-means of the centres, so that the upper clusters are spread over what there is and
not over how often it is there; each cluster of a level gets the same share of its parent.
"""

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.curation.cells import CHUNK, LEARN, Cells, Unit, drawn_rows, sphere_cells
from counterpoint.curation.neighbourhoods import Rows, directions
from counterpoint.progress import tracked

LEAF = 4  # clusters of the lowest level for each image that is chosen
FEWEST = 20  # vectors a cluster of the lowest level, on average, at least


def balanced_sample(vectors: Rows, count: int, *, seed: int = 0) -> Int64[Tensor, " chosen"]:
    r"""Choose vectors evenly over clusters of clusters; of each cluster those nearest its centre.

    Costs $4 \sqrt K d$ multiplications a vector for K clusters, and reads the vectors once.
    """
    leaves = max(1, min(LEAF * count, len(vectors) // FEWEST))
    learn = directions(drawn_rows(vectors, LEARN * leaves, seed))
    cells = sphere_cells(learn, count=leaves, seed=seed)
    above = sphere_cells(cells.centres, count=max(1, round(len(cells) ** 0.5)), seed=seed)
    parents = above.nearest(cells.centres)
    parts = tracked(vectors.split(8 * CHUNK), f"sorting {len(vectors):,} images into clusters")
    found = [_placed(directions(part), cells) for part in parts]
    place, near = (torch.cat(column) for column in zip(*found, strict=True))
    held = place.bincount(minlength=len(cells))
    shares = torch.zeros_like(held)
    room = torch.zeros(len(above), dtype=torch.int64).index_add_(0, parents, held)
    for parent, share in enumerate(even_shares(room, count).tolist()):
        children = (parents == parent).nonzero().flatten()
        shares[children] = even_shares(held[children], share)
    order = near.argsort(descending=True, stable=True)
    order = order[place[order].argsort(stable=True)]
    starts = held.cumsum(0) - held
    rank = torch.arange(len(order)) - starts[place[order]]
    return order[rank < shares[place[order]]].sort().values


def even_shares(room: Int64[Tensor, " cluster"], total: int) -> Int64[Tensor, " cluster"]:
    """Deal `total` evenly over clusters, none more than it holds; the first get what is left over.

    >>> even_shares(torch.tensor([1, 9, 9]), 8).tolist()
    [1, 4, 3]
    """
    total = min(total, int(room.sum()))
    low, high = 0, int(room.max()) if len(room) else 0
    while low < high:  # the largest level that is not more than the total
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if int(room.clamp(max=middle).sum()) <= total else (low, middle - 1)
        )
    shares = room.clamp(max=low)
    more = (room > low).nonzero().flatten()[: total - int(shares.sum())]
    shares[more] += 1
    return shares


def _placed(vectors: Unit, cells: Cells) -> tuple[Tensor, Tensor]:
    """Return the cell of each vector, and the cosine to its centre."""
    place = cells.nearest(vectors)
    return place, (vectors * cells.centres[place]).sum(dim=1)
