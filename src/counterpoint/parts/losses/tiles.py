"""How the n x m scores are walked, tile by tile, so that they are never held at once.

Columns are cut into three zones: candidates before the anchors' own vectors, the own ones and
those after. When anchors and own candidates are the same vectors the own zone is symmetric:
only its tiles on and above the diagonal are computed, and each of those above stands for its
mirror image too. A single process is all own zone, a rank of many mostly the other two.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.framework import Scores
from counterpoint.parts.losses.pairs import positive_pairs


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A block of scores and the positive pairs that lie in it."""

    rows: slice
    columns: slice
    own: slice | None
    """The anchors that the columns are, when they are shared with the anchors."""
    mirrored: bool
    """Its transpose is a block of scores too, and is not walked."""
    diagonal: bool
    """Its diagonal holds anchors scored with themselves."""
    row: Int64[Tensor, " pair"]
    column: Int64[Tensor, " pair"]
    pair: Int64[Tensor, " pair"]
    """Place of each positive inside the tile, and its number among all positives."""


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """All tiles, and the anchor and candidate of every positive pair."""

    tiles: tuple[Tile, ...]
    anchor: Int64[Tensor, " pair"]
    candidate: Int64[Tensor, " pair"]


def walk(scores: Scores, *, size: int) -> Walk:
    """Cut the scores into tiles of at most size x size and sort the positives into them."""
    n, m, itself = len(scores.anchors), len(scores.candidates), scores.itself
    anchor, candidate = positive_pairs(
        scores.anchor_identity, scores.candidate_identity, itself=itself
    )
    zones = [(0, m)] if itself is None else [(0, itself), (itself, itself + n), (itself + n, m)]
    rows, columns = _cuts([(0, n)], size), _cuts(zones, size)
    own_first = 0 if itself is None else len(_cuts(zones[:1], size))

    row, column = anchor, candidate
    if scores.shared and itself is not None:
        # The pair (i, j) below the diagonal is found at (j, i), above it.
        below = (column >= itself) & (column < itself + n)
        below &= (column - itself) // size < row // size
        row, column = (
            torch.where(below, column - itself, row),
            torch.where(below, row + itself, column),
        )
    starts = torch.tensor([cut.start for cut in columns], device=row.device)
    column_tile = torch.searchsorted(starts, column, right=True) - 1
    number = (row // size) * len(columns) + column_tile
    order = number.argsort(stable=True)
    counts = torch.bincount(number, minlength=len(rows) * len(columns)).tolist()
    row_in = (row % size)[order].split(counts)
    column_in = (column - starts[column_tile])[order].split(counts)
    pairs = order.split(counts)

    tiles = []
    for r, row_cut in enumerate(rows):
        for c, column_cut in enumerate(columns):
            own = c - own_first if itself is not None and 0 <= c - own_first < len(rows) else None
            if scores.shared and own is not None and own < r:
                continue
            k = r * len(columns) + c
            tiles.append(
                Tile(
                    rows=row_cut,
                    columns=column_cut,
                    own=rows[own] if scores.shared and own is not None else None,
                    mirrored=scores.shared and own is not None and own > r,
                    diagonal=own == r,
                    row=row_in[k],
                    column=column_in[k],
                    pair=pairs[k],
                )
            )
    return Walk(tuple(tiles), anchor, candidate)


def _cuts(zones: list[tuple[int, int]], size: int) -> list[slice]:
    """Cut each zone into slices of at most `size`."""
    return [
        slice(start, min(start + size, stop))
        for begin, stop in zones
        for start in range(begin, stop, size)
    ]
