"""Batches of a source in an order that is a function of seed and epoch."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from counterpoint.data.files import Files
from counterpoint.data.order import Order
from counterpoint.data.quarantine import KINDS, Bad
from counterpoint.data.reading import Cut, read_cuts
from counterpoint.data.source import Source
from counterpoint.framework.records import Draw, Images, Index


class Batch(NamedTuple):
    """This rank's share of a step."""

    images: Images | tuple[Images, ...]
    """Images of one size, or one cut per view of files of any size."""
    index: Index  # type: ignore[assignment]  # tuple.index is not used
    """The sample numbers."""
    bad: Int64[Tensor, "bad 2"]
    """What could not be read: sample number and place in KINDS."""


@dataclass
class Batches:
    """Whole batches of images and their sample numbers; this rank's share of each.

    Files are read, decoded and cut by `workers` processes; which one does it changes nothing.

    >>> source = Source("noise", torch.zeros(10, 3, 8, 8, dtype=torch.uint8))
    >>> [batch.index.tolist() for batch in Batches(source, batch=4, seed=0)]
    [[6, 4, 9, 2], [5, 1, 3, 8]]
    """

    source: Source | Files
    batch: int
    seed: int
    rank: int = 0
    ranks: int = 1
    cut: Cut | None = None
    workers: int = 0
    epoch: int = 0
    """The epoch of the first pass."""
    start: int = 0
    """The first step of the first pass: more than 0 goes on where an earlier run stopped."""
    sampler: Order = field(init=False)

    def __post_init__(self) -> None:
        if not 2 <= self.batch <= len(self.source):
            raise ValueError(
                f"data: a batch of {self.batch} from {len(self.source)} images; "
                "needs at least 2 images and no more than there are"
            )
        self.sampler = Order(
            len(self.source), self.batch, self.seed, self.rank, self.ranks, self.epoch
        )

    def __len__(self) -> int:
        """Count the steps of a whole epoch."""
        return len(self.sampler)

    def __iter__(self) -> Iterator[Batch]:
        start = self.start if self.sampler.epoch == self.epoch else 0
        shares = self.sampler.shares(start=start)
        if isinstance(self.source, Source):
            return (Batch(self.source.images[index], index, listed([])) for index in shares)
        assert self.cut is not None, "files need the views' cut"
        cutter = Cutter(self.source, self.cut, self.seed, self.sampler.epoch)
        loader = DataLoader(
            cutter, sampler=shares, batch_size=None, num_workers=self.workers, collate_fn=_as_it_is
        )
        return iter(loader)


@dataclass
class Cutter(Dataset[Batch]):
    """What a worker does: read, decode and cut a whole batch."""

    files: Files
    cut: Cut
    seed: int
    epoch: int

    def __getitem__(self, index: Index) -> Batch:
        cuts, bad = read_cuts(self.files, self.cut, Draw(self.seed, self.epoch, index))
        return Batch(cuts, index, listed(bad))


def listed(bad: list[Bad]) -> Int64[Tensor, "bad 2"]:
    """Write down what could not be read, as numbers: ranks exchange nothing else."""
    return torch.tensor([(b.sample, KINDS.index(b.kind)) for b in bad]).view(-1, 2).long()


def _as_it_is(batch: Any) -> Any:
    """Keep DataLoader from turning tuples into lists."""
    return batch
