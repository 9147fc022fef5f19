"""Images for evaluation: files are read by workers, and what cannot be read is left out.

In training another image stands in for a broken one. Here it would be scored twice.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int64
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from counterpoint.data import Files, Source
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.reading import Cut
from counterpoint.framework.records import Draw, Images, Index

PIECE = 100  # files that a worker reads at a time: 15 MB at 224 pixels
MOST_WORKERS = 8  # as in training

Cuts = tuple[Images, ...]


def read_files(files: Files, cut: Cut, *, workers: int | None) -> Iterator[tuple[Cuts, Index]]:
    """Read all files, some at a time; give their cuts and the numbers of those that were read.

    Whoever reads them, they come in order. None gives one process per core to many files.
    """
    parts = torch.arange(len(files)).split(PIECE)
    if workers is None:
        cores = len(os.sched_getaffinity(0))
        workers = min(MOST_WORKERS, cores) if len(parts) > 1 else 0
    sampler: Any = parts  # a sequence of whole batches, which DataLoader's types do not know
    loader = DataLoader(
        _Reader(files, cut),
        sampler=sampler,
        batch_size=None,
        num_workers=workers,
        collate_fn=_as_it_is,
    )
    return iter(loader)


@dataclass
class _Reader(Dataset[tuple[Cuts, Index]]):
    """What a worker does."""

    files: Files
    cut: Cut

    def __getitem__(self, index: Int64[Tensor, " asked"]) -> tuple[Cuts, Index]:
        good = torch.tensor([s for s in index.tolist() if s not in self.files.bad]).long()
        try:
            return self._cuts(good), good
        except UnreadableImageError:  # rare: find out which, one by one
            ones = [self._one(one) for one in good.split(1)]
        read = [cuts for cuts in ones if cuts is not None]
        there = torch.tensor([cuts is not None for cuts in ones])
        return tuple(torch.cat(parts) for parts in zip(*read, strict=True)), good[there]

    def _cuts(self, index: Index) -> Cuts:
        if len(index) == 0:
            return ()
        return self.cut(self.files.pictures(index), Draw(0, 0, index))

    def _one(self, index: Index) -> Cuts | None:
        try:
            return self._cuts(index)
        except UnreadableImageError:
            return None


def readable(source: Source) -> Index:
    """Give the samples of images in memory that show themselves, not one that stands in."""
    there = torch.ones(len(source), dtype=torch.bool)
    there[torch.tensor([bad.sample for bad in source.bad], dtype=torch.int64)] = False
    return there.nonzero().flatten()


def _as_it_is(batch: Any) -> Any:
    """Keep DataLoader from turning tuples into lists."""
    return batch
