"""Batches of a source in an order that is a function of seed and epoch."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from counterpoint.data.crew import Crew
from counterpoint.data.files import Files
from counterpoint.data.order import Order
from counterpoint.data.quarantine import KINDS, Bad
from counterpoint.data.reading import Cut, read_cuts
from counterpoint.data.source import Source
from counterpoint.framework.records import Cuts, Draw, Images, Index
from counterpoint.framework.settings import fitting_batch
from counterpoint.pulse import phase


class Batch(NamedTuple):
    """This rank's share of a step."""

    images: Images | Cuts
    """Images of one size, or one cut per view of files of any size."""
    index: Index  # type: ignore[assignment]  # tuple.index is not used
    """The sample numbers."""
    bad: Int64[Tensor, "bad 2"]
    """What could not be read: sample number and place in KINDS."""

    def to(self, device: torch.device) -> "Batch":
        """Send the images to a device; the host goes on, and keeps the numbers."""
        if isinstance(self.images, Tensor):
            return self._replace(images=self.images.to(device, non_blocking=True))
        cuts = tuple(cut.to(device, non_blocking=True) for cut in self.images)
        return self._replace(images=cuts)


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
    together: int = 1
    """Batches that make one update; an epoch has as many as are whole."""
    start: int = 0
    """The first step of the first pass: more than 0 goes on where an earlier run stopped."""
    pin: bool = False
    """Put batches where a CUDA device fetches them by itself, while the host goes on."""
    sampler: Order = field(init=False)
    crew: Crew = field(init=False)
    """The workers of the pass that was begun last."""

    def __post_init__(self) -> None:
        check_batch(self.batch, len(self.source), together=self.together, ranks=self.ranks)
        self.crew = Crew(self.workers)
        self.sampler = Order(
            len(self.source),
            self.batch,
            self.seed,
            self.rank,
            self.ranks,
            self.epoch,
            self.together,
        )

    def __len__(self) -> int:
        """Count the steps of a whole epoch."""
        return len(self.sampler)

    def __iter__(self) -> Iterator[Batch]:
        start = self.start if self.sampler.epoch == self.epoch else 0
        shares = self.sampler.shares(start=start)
        if isinstance(self.source, Source):
            return loaded(self._in_memory(self.source, shares))
        assert self.cut is not None, "files need the views' cut"
        self.crew = Crew(self.workers)
        cutter = Cutter(self.source, self.cut, self.seed, self.sampler.epoch, self.crew)
        # Workers end with their pass. Lightning holds its loaders in circles of objects: workers
        # that stay would be ended by whichever process collects those, a forked one too.
        loader = DataLoader(
            cutter,
            sampler=shares,
            batch_size=None,
            num_workers=self.workers,
            collate_fn=_as_it_is,
            worker_init_fn=self.crew.attend,
            pin_memory=self.pin,
        )
        return loaded(iter(loader))

    def _in_memory(self, source: Source, shares: Iterator[Index]) -> Iterator[Batch]:
        for index in shares:
            images = source.images[index]
            yield Batch(images.pin_memory() if self.pin else images, index, bad_rows([]))


def loaded(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Give batches, and say while one is being waited for that it is."""
    while True:
        with phase("loading a batch", alone=True):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


@dataclass
class Cutter(Dataset[Batch]):
    """What a worker does: read, decode and cut a whole batch."""

    files: Files
    cut: Cut
    seed: int
    epoch: int
    crew: Crew

    def __getitem__(self, index: Index) -> Batch:
        with self.crew.working():
            cuts, bad = read_cuts(self.files, self.cut, Draw(self.seed, self.epoch, index))
        return Batch(cuts, index, bad_rows(bad))


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


def bad_rows(bad: list[Bad]) -> Int64[Tensor, "bad 2"]:
    """Write down what could not be read, as numbers: ranks exchange nothing else."""
    return torch.tensor([(b.sample, KINDS.index(b.kind)) for b in bad]).view(-1, 2).long()


def _as_it_is(batch: Any) -> Any:
    """Keep DataLoader from turning tuples into lists."""
    return batch
