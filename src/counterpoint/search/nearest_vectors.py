"""Exact search: the cosine of every query with every vector, a tile at a time."""

from collections.abc import Iterable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

TILE = 16_384  # vectors at a time: 8 MB of fp32 at 128 numbers each
QUERIES = 1_024  # at a time: 64 MB of cosines for a tile


class Nearest(NamedTuple):
    """For each query the rows nearest to it and their cosines, nearest first.

    Where fewer rows are there than were asked for, a row is -1 and its cosine -inf.

    >>> near = nearest_rows(torch.eye(2), torch.eye(2), count=1)
    >>> near.rows.tolist(), near.cosines.tolist()
    ([[0], [1]], [[1.0], [1.0]])
    """

    rows: Int64[Tensor, "query near"]
    cosines: Float[Tensor, "query near"]


def nearest_rows(
    queries: Float[Tensor, "query feature"],
    vectors: Float[Tensor, "row feature"] | Iterable[Float[Tensor, "_ feature"]],
    *,
    count: int,
    without: Int64[Tensor, " query"] | None = None,
) -> Nearest:
    r"""Find for every query the rows of largest cosine, $<q, v> / (|q| |v|)$, in fp32.

    `vectors` may come in pieces, such as the parts of a folder: memory is that of a tile, and the
    best so far. `without` is a row for each query that is left out, or -1: an image is not a
    neighbour of itself.

    >>> near = nearest_rows(torch.eye(2), torch.tensor([[3.0, 0.0], [1.0, 1.0]]), count=1)
    >>> near.rows.tolist(), near.cosines[0].tolist()
    ([[0], [1]], [1.0])
    """
    pieces = [vectors] if isinstance(vectors, Tensor) else vectors
    wanted = F.normalize(queries.float(), dim=1)
    best = Nearest(
        torch.full((len(queries), count), -1), torch.full((len(queries), count), -torch.inf)
    )
    first = 0
    for piece in pieces:
        for tile in piece.split(TILE):
            best = _merged(best, wanted, tile.float(), first, without)
            first += len(tile)
    return best


def _merged(
    best: Nearest,
    wanted: Float[Tensor, "query feature"],
    tile: Float[Tensor, "row feature"],
    first: int,
    without: Int64[Tensor, " query"] | None,
) -> Nearest:
    """Merge the best of a tile into the best so far."""
    scale = 1 / tile.norm(dim=1).clamp_min(1e-12)
    count = min(best.rows.shape[1], len(tile))
    rows, cosines = [], []
    for start, some in enumerate(wanted.split(QUERIES)):
        here = slice(start * QUERIES, start * QUERIES + len(some))
        near = (some @ tile.T) * scale
        if without is not None:
            left_out = without[here] - first
            there = ((left_out >= 0) & (left_out < len(tile))).nonzero().flatten()
            near[there, left_out[there]] = -torch.inf
        top = near.topk(count, dim=1)
        values = torch.cat([best.cosines[here], top.values], dim=1)
        numbers = torch.cat([best.rows[here], top.indices + first], dim=1)
        kept = values.topk(best.rows.shape[1], dim=1)
        cosines.append(kept.values)
        rows.append(numbers.gather(1, kept.indices))
    found = Nearest(torch.cat(rows), torch.cat(cosines))
    return found._replace(rows=found.rows.masked_fill(found.cosines == -torch.inf, -1))


def recall(found: Int64[Tensor, "query near"], true: Int64[Tensor, "query near"]) -> float:
    """Return the share of the true neighbours that were found.

    >>> recall(torch.tensor([[1, 2]]), torch.tensor([[2, 3]]))
    0.5
    """
    return float((found[:, :, None] == true[:, None, :]).any(dim=1).double().mean())
