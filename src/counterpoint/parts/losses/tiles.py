"""How the n x m scores are walked, tile by tile, so that they are never held at once.

Columns are cut into three zones: candidates before the anchors' own vectors, the own ones and
those after. When anchors and own candidates are the same vectors the own zone is symmetric:
only its tiles on and above the diagonal are computed, and each of those above stands for its
mirror image too. A single process is all own zone, a rank of many mostly the other two.

The plan follows from identities. It is made on the host, so that nobody waits for the device,
and brought over in one copy.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.framework import Scores
from counterpoint.framework.sending import send_together
from counterpoint.parts.losses.pairs import Positives, positive_pairs


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
    quiet: Int64[Tensor, " quiet"] | None = None
    """Columns that are nobody's negatives, where there are some among others."""


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """All tiles, and all positive pairs."""

    tiles: tuple[Tile, ...]
    positives: Positives


def walk(
    scores: Scores, *, size: int, pairs: Positives | None = None, skip: slice | None = None
) -> Walk:
    """Cut the scores into tiles of at most size^2 scores and sort the positives into them.

    What counts is the area: a few anchors and the candidates of many ranks are cut into tiles
    that are low and wide. In the own zone tiles are squares, because of the mirror images.

    `pairs` are the positives, where they are known; columns of `skip` are in no tile.
    """
    n, m, itself = len(scores.anchors), len(scores.candidate_identity), scores.itself
    if pairs is None:
        pairs = positive_pairs(scores.anchor_identity, scores.candidate_identity, itself=itself)
    height = size if itself is not None else _other_side(m, size)
    width = _other_side(n, height, area=size * size)
    own = (0, 0) if itself is None else (itself, itself + n)
    before = _cuts(0, own[0], width)
    rows = _cuts(0, n, height)
    columns = [*before, *_cuts(*own, height), *_cuts(own[1], m, width)]
    if skip is not None:
        columns = [*_cuts(0, skip.start, width), *_cuts(skip.stop, m, width)]
    inside, counts = _places(*_above(scores, pairs, size), columns, len(rows), height)
    sent = send_together([*inside, *pairs.lists()], scores.anchors.device)
    places = zip(*(part.split(counts) for part in sent[:3]), strict=True)
    return Walk(_tiles(scores, places, rows, columns, len(before)), Positives.of_lists(sent[3:]))


def _tiles(
    scores: Scores,
    places: Iterable[tuple[Tensor, ...]],
    rows: list[slice],
    columns: list[slice],
    before: int,
) -> tuple[Tile, ...]:
    """Make the tiles, row by row; `before` of each row's tiles lie before the own zone."""
    tiles = []
    for number, (row, column, pair) in enumerate(places):
        r, c = divmod(number, len(columns))
        own = c - before if scores.itself is not None and 0 <= c - before < len(rows) else None
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
    return tuple(tiles)


def _other_side(length: int, side: int, *, area: int | None = None) -> int:
    """Return the other side of a tile that is at most `side` by `side`, or of that area.

    >>> _other_side(128, 1024), _other_side(5000, 1024)
    (8192, 1024)
    """
    return (area or side * side) // max(1, min(length, side))


def _above(scores: Scores, pairs: Positives, size: int) -> tuple[Tensor, Tensor]:
    """Return where each pair is found: (j, i) for a pair (i, j) whose tile is not walked."""
    anchor, candidate = pairs.anchor, pairs.candidate
    if not scores.shared or scores.itself is None:
        return anchor, candidate
    own = candidate - scores.itself
    below = (own >= 0) & (own < len(scores.anchors)) & (own // size < anchor // size)
    row = torch.where(below, own, anchor)
    return row, torch.where(below, anchor + scores.itself, candidate)


def _places(
    row: Tensor, column: Tensor, columns: list[slice], rows: int, height: int
) -> tuple[tuple[Tensor, Tensor, Tensor], list[int]]:
    """Sort pairs by tile: rows and columns inside it, their numbers, and how many a tile has."""
    starts = torch.tensor([cut.start for cut in columns], dtype=torch.int64)
    tile_column = torch.searchsorted(starts, column, right=True) - 1
    tile = row // height * len(columns) + tile_column
    order = tile.argsort(stable=True)
    counts = torch.bincount(tile, minlength=rows * len(columns)).tolist()
    return ((row % height)[order], (column - starts[tile_column])[order], order), counts


def _cuts(start: int, stop: int, size: int) -> list[slice]:
    """Cut a zone into slices of at most `size`."""
    return [slice(first, min(first + size, stop)) for first in range(start, stop, size)]
