"""Curate a folder of vectors: what is there twice, what leaks, what is odd, what is mislabelled."""

import time
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from counterpoint.curation.calibration import (
    CopyDistances,
    half_of_copies,
    law_of,
    measured_copies,
)
from counterpoint.curation.groups import Groups, linked_groups, preference
from counterpoint.curation.locality import local_scales, scaled_distances
from counterpoint.curation.near_pairs import NearPairs, near_pairs
from counterpoint.curation.neighbourhoods import Near, Rooms, rooms
from counterpoint.curation.oddness import closeness, odd_cut
from counterpoint.curation.selection import selected
from counterpoint.curation.suspects import Verdicts, label_verdicts
from counterpoint.curation.threshold import Threshold, fitted_threshold, precision_curve
from counterpoint.vectors import Vectors

FEWEST = 20  # images below which a law of chance says nothing
HELD_OUT = {"test": 2, "validation": 1}
SURE = 0.5  # doubt above which a label is shown: the other label has most of the weight


@dataclass(frozen=True, slots=True, eq=False)
class Curation:
    """All that was found of the images that could be read, by row of the vectors.

    >>> found = curate(Vectors.open(vectors_folder))
    >>> len(found.equal)  # pairs of equal files
    2
    """

    vectors: Vectors
    groups: Groups
    pairs: NearPairs
    """Near-duplicates and what is worth a look, without equal files."""
    confidence: Float64[Tensor, " pair"]
    """The precision of all pairs that are as near as each."""
    threshold: Threshold
    positives: CopyDistances | None
    dimension: float
    equal: Int64[Tensor, "equal 2"]
    """Pairs of equal files."""
    closeness: Float[Tensor, " row"]
    odd: float
    """The closeness below which an image is an outlier."""
    verdicts: Verdicts | None
    chosen: Bool[Tensor, " row"] | None
    """Which images were selected; None where no selection was asked for."""
    cost: dict[str, float]

    @property
    def left_out(self) -> Bool[Tensor, " row"]:
        """Images for which another is kept."""
        return self.groups.kept >= 0

    @property
    def near(self) -> NearPairs:
        """The near-duplicates: pairs within the threshold."""
        return self.pairs.within(self.threshold.radius)

    @property
    def outliers(self) -> Bool[Tensor, " row"]:
        """Images unlike all others."""
        return (self.closeness < self.odd) & ~self.left_out

    @property
    def suspects(self) -> Int64[Tensor, " suspect"]:
        """Rows with a label that their neighbours contradict, the surest first."""
        if self.verdicts is None or self.vectors.labels is None:
            return torch.zeros(0, dtype=torch.int64)
        doubt = self.verdicts.doubt.where(self.vectors.labels >= 0, torch.tensor(-1.0))
        order = doubt.argsort(descending=True, stable=True)
        return order[doubt[order] > SURE]

    @property
    def leaks(self) -> Int64[Tensor, "leak 2"]:
        """Pairs of duplicates whose images are in different splits."""
        gone = self.left_out.nonzero().flatten()
        instead = torch.stack([self.groups.kept[gone], gone], dim=1)  # copies of near ones too
        known = torch.cat([self.equal, self.near.ends])
        seen = {tuple(sorted(pair)) for pair in known.tolist()}
        more = [pair for pair in instead.tolist() if tuple(sorted(pair)) not in seen]
        both = torch.cat([known, torch.tensor(more, dtype=torch.int64).view(-1, 2)])
        names = self.vectors.splits
        across = [names[a] != names[b] for a, b in both.tolist()]
        return both[torch.tensor(across, dtype=torch.bool)]


def curate(
    vectors: Vectors, *, precision: float = 0.95, select: int | None = None, seed: int = 0
) -> Curation:
    """Find duplicates, leaks, outliers and suspect labels, and select images that cover the rest.

    Near-duplicates are pairs within the radius at which `precision` of them are expected to be
    right; equal files are duplicates whatever the encoder says.

    >>> found = curate(Vectors.open(vectors_folder), select=5)
    >>> int(found.chosen.sum())
    5
    """
    _refuse(vectors, precision, select)
    started = time.monotonic()
    rank = preference(
        vectors.sizes.prod(dim=1),
        vectors.bytes,
        torch.tensor([HELD_OUT.get(name, 0) for name in vectors.splits]),
    )
    first, equal = equal_files(vectors.sha256, rank)
    rows = (first == torch.arange(len(first))).nonzero().flatten()
    room = rooms(vectors.matrix()[rows], seed=seed)
    near = room.nearest(room.vectors, torch.arange(len(rows)))
    compared = time.monotonic()
    scales = local_scales(near.cosine)
    lists = scaled_distances(near.cosine, near.index, scales, scales)
    positives = _positives(vectors, room, scales, first, rows)
    law = law_of(lists, aside=half_of_copies(positives), seed=seed)
    found = near_pairs(near.index, lists)
    curve = precision_curve(found.distance, law, images=len(rows))
    threshold = fitted_threshold(curve, law, precision=precision, seed=seed)
    lenient = law_of(lists, aside=threshold.radius, seed=seed)
    threshold = threshold.widened(lenient, images=len(rows), seed=seed)
    worth = found.within(max(threshold.radius, threshold.look))
    pairs = NearPairs(rows[worth.ends], worth.distance)
    duplicates = torch.cat([equal, pairs.within(threshold.radius).ends])
    groups = linked_groups(len(first), duplicates, rank).with_copies(first)
    judged = time.monotonic()
    score = closeness(near.cosine)
    chosen = None if select is None else _chosen(vectors, groups.kept < 0, select, seed)
    return Curation(
        *(vectors, groups, pairs, curve.at(worth.distance), threshold, positives, law.dimension),
        *(equal, _spread(score, rows, first), odd_cut(score)),
        _verdicts(vectors, near, rows, first, groups.kept < 0),
        chosen,
        {
            "cosines": near.products,
            "cells": 0 if room.cells is None else len(room.cells),
            "seconds comparing": compared - started,
            "seconds judging": judged - compared,
            "seconds selecting": time.monotonic() - judged,
        },
    )


def equal_files(
    digests: list[bytes], rank: Int64[Tensor, " row"]
) -> tuple[Int64[Tensor, " row"], Int64[Tensor, "equal 2"]]:
    """Return for each row the best row with the same bytes, and the pairs of the two.

    >>> first, pairs = equal_files([b"a", b"b", b"a"], torch.tensor([2, 1, 0]))
    >>> first.tolist(), pairs.tolist()
    ([2, 1, 2], [[0, 2]])
    """
    best: dict[bytes, int] = {}
    for row in rank.argsort().tolist():
        best.setdefault(digests[row], row)
    first = torch.tensor([best[digest] for digest in digests])
    others = (first != torch.arange(len(first))).nonzero().flatten()
    return first, torch.stack([others, first[others]], dim=1).sort(dim=1).values


def _refuse(vectors: Vectors, precision: float, select: int | None) -> None:
    if not 0 < precision < 1:
        raise ValueError(f"curation: precision is {precision}; needs more than 0 and less than 1")
    if vectors.count < FEWEST:
        raise ValueError(
            f"curation: {vectors.folder} has {vectors.count} readable images; needs {FEWEST}"
        )
    if select is not None and select < 1:
        raise ValueError(f"curation: select is {select}; needs at least 1")


def _positives(
    vectors: Vectors,
    room: Rooms,
    scales: Float[Tensor, " vector"],
    first: Int64[Tensor, " row"],
    rows: Int64[Tensor, " vector"],
) -> CopyDistances | None:
    """Measure the recorded copies, if `embed` made any."""
    copies = vectors.copies()
    if copies is None or len(copies.samples) == 0:
        return None
    original = torch.searchsorted(vectors.samples, copies.samples)
    place = torch.searchsorted(rows, first[original])
    return measured_copies(room, scales, place, copies.copies, copies.vectors)


def _verdicts(
    vectors: Vectors,
    near: Near,
    rows: Int64[Tensor, " vector"],
    first: Int64[Tensor, " row"],
    kept: Bool[Tensor, " row"],
) -> Verdicts | None:
    """Let neighbours judge the labels; equal files are judged by the neighbours of the first."""
    if vectors.labels is None:
        return None
    place = torch.searchsorted(rows, first)
    index = near.index[place]
    voters = torch.where(index >= 0, rows[index.clamp(min=0)], index)
    return label_verdicts(vectors.labels, voters, near.cosine[place], kept.long())


def _chosen(
    vectors: Vectors, kept: Bool[Tensor, " row"], count: int, seed: int
) -> Bool[Tensor, " row"]:
    rows = kept.nonzero().flatten()
    chosen = torch.zeros_like(kept)
    chosen[rows[selected(vectors.matrix()[rows], count, seed=seed)]] = True
    return chosen


def _spread(
    score: Float[Tensor, " vector"], rows: Int64[Tensor, " vector"], first: Int64[Tensor, " row"]
) -> Float[Tensor, " row"]:
    """Return scores in which equal files have that of the first."""
    return score[torch.searchsorted(rows, first)]
