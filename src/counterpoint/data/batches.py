"""Batches of a source in an order that is a function of seed and epoch."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torch.utils.data import DataLoader, Dataset

from counterpoint.data.batch import Batch
from counterpoint.data.crew import Crew
from counterpoint.data.order import BLOCK_SHARDS, Order
from counterpoint.data.shards_ahead import announced_shares
from counterpoint.data.source import Cut, Source
from counterpoint.data.workers import loader_workers
from counterpoint.framework.records import Draw, Index
from counterpoint.framework.settings import fitting_batch
from counterpoint.pulse import phase


@dataclass
class Batches:
    """Whole batches of images and their sample numbers; this rank's share of each.

    Pictures are read, decoded and cut by `workers` processes; which one does it changes nothing.

    >>> import torch
    >>> from counterpoint.data.array_source import ArraySource
    >>> source = ArraySource("noise", torch.zeros(10, 3, 8, 8, dtype=torch.uint8))
    >>> [batch.index.tolist() for batch in Batches(source, batch=4, seed=0)]
    [[6, 4, 9, 2], [5, 1, 3, 8]]
    """

    source: Source
    batch: int
    seed: int
    rank: int = 0
    ranks: int = 1
    cut: Cut | None = None
    workers: int = 0
    epoch: int = 0
    """The epoch of the first pass."""
    together: int = 1
    """Batches that make one update; an epoch has as many as are whole."""
    start: int = 0
    """The first step of the first pass: more than 0 resumes where an earlier run stopped."""
    lanes: int = 1
    """Lanes that the shards of the source are read in; each gives as much to every batch."""
    block_shards: int = BLOCK_SHARDS
    """Shards of a lane that are mixed with each other."""
    pin: bool = False
    """Put batches where a CUDA device fetches them by itself, while the host continues."""
    sampler: Order = field(init=False)
    crew: Crew = field(init=False)
    """The workers of the pass that was begun last."""

    def __post_init__(self) -> None:
        check_batch(self.batch, len(self.source), together=self.together, ranks=self.ranks)
        check_lanes(self.lanes, self.batch, ranks=self.ranks)
        shards = self.source.shards
        self.crew = Crew(self.workers)
        self.sampler = Order(
            len(self.source),
            self.batch,
            self.seed,
            self.rank,
            self.ranks,
            self.epoch,
            self.together,
            self.lanes,
            self.block_shards,
            None if shards is None else shards.counts,
        )

    def __len__(self) -> int:
        """Count the steps of a whole epoch."""
        return len(self.sampler)

    def __iter__(self) -> Iterator[Batch]:
        start = self.start if self.sampler.epoch == self.epoch else 0
        shards = self.source.shards
        if shards is None:
            shares = self.sampler.shares(start=start)
        else:
            shares = announced_shares(self.sampler, shards, start=start)
        workers = loader_workers(self.source, self.workers)
        self.crew = Crew(workers)
        reader = Reader(self.source, self.cut, self.seed, self.sampler.epoch, self.crew)
        if workers == 0:
            found = (reader[index] for index in shares)
            return loaded(batch.pin_memory() if self.pin else batch for batch in found)
        # Workers end with their pass. Lightning holds its loaders in circles of objects: workers
        # that stay would be ended by whichever process collects those, a forked one too.
        loader = DataLoader(
            reader,
            sampler=shares,
            batch_size=None,
            num_workers=workers,
            collate_fn=_as_it_is,
            worker_init_fn=self.crew.attend,
            pin_memory=self.pin,
        )
        return loaded(iter(loader))


def loaded(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Return batches, and say while one is being waited for that it is."""
    while True:
        with phase("loading a batch", alone=True):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


@dataclass
class Reader(Dataset[Batch]):
    """What a worker does: read a whole batch."""

    source: Source
    cut: Cut | None
    seed: int
    epoch: int
    crew: Crew

    def __getitem__(self, index: Index) -> Batch:
        with self.crew.working():
            return self.source.read(self.cut, Draw(self.seed, self.epoch, index))


def check_batch(batch: int, images: int, *, together: int = 1, ranks: int = 1) -> None:
    """Refuse a batch that the images cannot fill, or that leaves a process without any.

    >>> check_batch(512, 298)
    Traceback (most recent call last):
    ValueError: data: a batch of 512 from 298 images; 64 fits
    """
    if batch < 2:
        raise ValueError(f"data: a batch of {batch} from {images} images; needs at least 2")
    if batch * together > images:
        fits = fitting_batch(batch * together, images)
        do = f"{fits} fits" if fits else "there are too few to train on"
        raise ValueError(f"data: a batch of {batch * together} from {images} images; {do}")
    if batch < ranks:
        raise ValueError(
            f"data: {batch} images at once for {ranks} processes; needs one or more for each"
        )


def check_lanes(lanes: int, batch: int, *, ranks: int = 1) -> None:
    """Refuse lanes that cannot give as much each to a batch, or that are fewer than the processes.

    One lane is shared by all processes, each of which then reads all shards.

    >>> check_lanes(4, 256, ranks=6)
    Traceback (most recent call last):
    ValueError: data: 4 lanes for 6 processes; needs one or more for each: fewer --devices, or ...
    """
    if batch % lanes:
        raise ValueError(
            f"data: {lanes} lanes do not divide the {batch} images that are worked through at "
            "once; needs --lanes that do, or another --batch-size"
        )
    if 1 < lanes < ranks:
        raise ValueError(
            f"data: {lanes} lanes for {ranks} processes; needs one or more for each: "
            f"fewer --devices, or a new run with --lanes {1 << (ranks - 1).bit_length()} or more"
        )


def _as_it_is(batch: Any) -> Any:
    """Keep DataLoader from turning tuples into lists."""
    return batch
