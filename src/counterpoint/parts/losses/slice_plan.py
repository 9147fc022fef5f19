"""The plan of a walk over candidates that come in slices: a walk for each, made on the host."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from counterpoint.framework import Scores
from counterpoint.framework.records import NOBODY
from counterpoint.framework.sending import send, send_together
from counterpoint.framework.world import Slices
from counterpoint.parts.losses.pairs import Positives, positive_pairs, positives_of
from counterpoint.parts.losses.tiles import Tile, Walk, walk


@dataclass(frozen=True, slots=True, eq=False)
class SlicePlan:
    """What there is to walk: this rank's own candidates and the past, then slice after slice."""

    slices: Slices
    walks: tuple[Walk, ...]
    """The first is the local one."""
    lengths: tuple[int, ...]
    """Columns of each."""
    positives: Positives
    """All of them, in the order of the walks."""

    def of_walks(self, values: Tensor) -> tuple[Tensor, ...]:
        """Split one value for each positive into the shares of the walks."""
        return tuple(values.split([len(each.positives.anchor) for each in self.walks]))


def slice_plan(scores: Scores, *, size: int) -> SlicePlan:
    """Cut the scores of each slice into tiles, and sort the positives into them.

    An anchor's positives may be in any slice, so that all are found before the first arrives.
    """
    slices = scores.slices
    assert slices is not None
    local = replace(scores, slices=None)
    parts: list[tuple[Scores, slice | None]] = [(local, None)]
    for number in range(slices.count):
        identity = slices.identity(number)
        not_here = scores.candidates.new_empty(1, scores.candidates.shape[1])
        there = replace(
            local,
            candidates=not_here.expand(len(identity), -1),
            candidate_identity=identity,
            itself=None,
            shared=False,
        )
        parts.append((there, slices.own_columns(number)))
    pairs = [
        positive_pairs(some.anchor_identity, some.candidate_identity, itself=some.itself)
        for some, _ in parts
    ]
    anchor = torch.cat([found.anchor for found in pairs])
    candidate = torch.cat([found.candidate for found in pairs])
    every = positives_of(anchor, candidate, anchors=len(scores.anchors))
    return SlicePlan(
        slices,
        tuple(
            _quiet(walk(some, size=size, pairs=found, skip=skip), some.candidate_identity)
            for (some, skip), found in zip(parts, pairs, strict=True)
        ),
        tuple(len(some.candidate_identity) for some, _ in parts),
        Positives.of_lists(send_together(every.lists(), scores.anchors.device)),
    )


def _quiet(found: Walk, identity: Tensor) -> Walk:
    """Tell tiles which of their columns are only ever positives."""
    quiet = identity.cpu() < NOBODY
    if not bool(quiet.any()):
        return found
    device = found.positives.anchor.device

    def told(tile: Tile) -> Tile:
        columns = quiet[tile.columns].nonzero()[:, 0]
        return replace(tile, quiet=send(columns, device)) if len(columns) else tile

    return replace(found, tiles=tuple(map(told, found.tiles)))
