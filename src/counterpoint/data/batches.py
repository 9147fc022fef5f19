"""Batches of a source in an order that is a function of seed and epoch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from counterpoint.data.files import Files
from counterpoint.data.source import Source
from counterpoint.framework.randomness import keyed_order
from counterpoint.framework.records import Draw, Images, Index, Picture

Batch = tuple[Images | tuple[Images, ...], Index]
"""Images of one size, or one cut per view of files of any size; and the sample numbers."""

Cut = Callable[[Sequence[Picture], Draw], tuple[Images, ...]]


@dataclass
class Order:
    """The order of samples; Lightning tells it the epoch before each pass."""

    count: int
    seed: int
    epoch: int = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __call__(self) -> Tensor:
        return keyed_order(self.count, seed=self.seed, epoch=self.epoch)


@dataclass
class Batches:
    """Whole batches of images and their sample numbers; this rank's share of each.

    `batch` images make one global batch; rank r of W takes the r-th of W slices of it, so that
    the global batches are the same for any number of ranks. The rest of an epoch is left out.
    Files are read, decoded and cut by `workers` processes; which one does it changes nothing.

    >>> import torch
    >>> source = Source("noise", torch.zeros(10, 3, 8, 8, dtype=torch.uint8))
    >>> [index.tolist() for _, index in Batches(source, batch=4, seed=0)]
    [[6, 1, 2, 4], [5, 9, 8, 0]]
    """

    source: Source | Files
    batch: int
    seed: int
    rank: int = 0
    ranks: int = 1
    cut: Cut | None = None
    """How files become images of one size: `cut` of the views."""
    workers: int = 0
    start: int = 0
    """The first step of an epoch: more than 0 goes on where an earlier run stopped."""
    sampler: Order = field(init=False)

    def __post_init__(self) -> None:
        if not 2 <= self.batch <= len(self.source):
            raise ValueError(
                f"data: a batch of {self.batch} from {len(self.source)} images; "
                "needs at least 2 images and no more than there are"
            )
        self.sampler = Order(len(self.source), self.seed)

    def __len__(self) -> int:
        return len(self.source) // self.batch - self.start

    def __iter__(self) -> Iterator[Batch]:
        shares = self._shares()
        if isinstance(self.source, Source):
            return ((self.source.images[index], index) for index in shares)
        assert self.cut is not None, "files need the views' cut"
        cutter = Cutter(self.source, self.cut, self.seed, self.sampler.epoch)
        loader = DataLoader(
            cutter, sampler=shares, batch_size=None, num_workers=self.workers, collate_fn=_as_it_is
        )
        return iter(loader)

    def _shares(self) -> list[Tensor]:
        """List the samples of this rank, step by step."""
        whole = self.sampler().split(self.batch)[self.start : self.start + len(self)]
        return [batch.tensor_split(self.ranks)[self.rank] for batch in whole]


@dataclass
class Cutter(Dataset[Batch]):
    """What a worker does: read, decode and cut a whole batch."""

    files: Files
    cut: Cut
    seed: int
    epoch: int

    def __getitem__(self, index: Index) -> Batch:
        return self.cut(self.files.pictures(index), Draw(self.seed, self.epoch, index)), index


def _as_it_is(batch: Any) -> Any:
    """Keep DataLoader from turning tuples into lists."""
    return batch
