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
    mirror: slice | None
    """The same, where the transpose of this tile is a block of scores too, and is not walked."""
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
    before = len(_cuts(zones[:1], size))  # tiles of a row that lie before the own zone
    places = _places(*_above(scores, anchor, candidate, size), columns, len(rows), size)
    tiles = []
    for number, (row, column, pair) in enumerate(places):
        r, c = divmod(number, len(columns))
        own = c - before if itself is not None and 0 <= c - before < len(rows) else None
        same = rows[own] if scores.shared and own is not None else None
        if same is not None and same.start < rows[r].start:
            continue  # its mirror image is walked
        tiles.append(
            Tile(
                rows=rows[r],
                columns=columns[c],
                own=same,
                mirror=same if same is not None and same.start > rows[r].start else None,
                diagonal=own == r,
                row=row,
                column=column,
                pair=pair,
            )
        )
    return Walk(tuple(tiles), anchor, candidate)


def _above(scores: Scores, anchor: Tensor, candidate: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Give where each pair is found: (j, i) for a pair (i, j) whose tile is not walked."""
    if not scores.shared or scores.itself is None:
        return anchor, candidate
    own = candidate - scores.itself
    below = (own >= 0) & (own < len(scores.anchors)) & (own // size < anchor // size)
    row = torch.where(below, own, anchor)
    return row, torch.where(below, anchor + scores.itself, candidate)


def _places(
    row: Tensor, column: Tensor, columns: list[slice], rows: int, size: int
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Sort pairs by tile: for each tile their rows and columns inside it, and their numbers."""
    starts = torch.tensor([cut.start for cut in columns], device=row.device)
    tile_column = torch.searchsorted(starts, column, right=True) - 1
    tile = row // size * len(columns) + tile_column
    order = tile.argsort(stable=True)
    counts = torch.bincount(tile, minlength=rows * len(columns)).tolist()
    inside = ((row % size)[order], (column - starts[tile_column])[order], order)
    return list(zip(*(part.split(counts) for part in inside), strict=True))


def _cuts(zones: list[tuple[int, int]], size: int) -> list[slice]:
    """Cut each zone into slices of at most `size`."""
    return [
        slice(start, min(start + size, stop))
        for begin, stop in zones
        for start in range(begin, stop, size)
    ]
