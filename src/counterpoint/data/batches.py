"""Batches of a source in an order that is a function of seed and epoch."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from torch import Tensor

from counterpoint.data.source import Source
from counterpoint.framework.randomness import keyed_order
from counterpoint.framework.records import Images, Index

Batch = tuple[Images, Index]


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

    >>> import torch
    >>> source = Source("noise", torch.zeros(10, 3, 8, 8, dtype=torch.uint8))
    >>> [index.tolist() for _, index in Batches(source, batch=4, seed=0)]
    [[6, 1, 2, 4], [5, 9, 8, 0]]
    """

    source: Source
    batch: int
    seed: int
    rank: int = 0
    ranks: int = 1
    sampler: Order = field(init=False)

    def __post_init__(self) -> None:
        if not 2 <= self.batch <= len(self.source):
            raise ValueError(
                f"data: a batch of {self.batch} from {len(self.source)} images; "
                "needs at least 2 images and no more than there are"
            )
        self.sampler = Order(len(self.source), self.seed)

    def __len__(self) -> int:
        return len(self.source) // self.batch

    def __iter__(self) -> Iterator[Batch]:
        order = self.sampler()
        for step in range(len(self)):
            whole = order[step * self.batch : (step + 1) * self.batch]
            index = whole.tensor_split(self.ranks)[self.rank]
            yield self.source.images[index], index
