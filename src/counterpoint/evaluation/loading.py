"""Images for evaluation: pictures are read by workers, and what cannot be read is left out.

In training another image stands in for a broken one. Here it would be scored twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from counterpoint.data import Source
from counterpoint.data.batch import Batch
from counterpoint.data.source import Cut, all_but
from counterpoint.data.workers import loader_workers
from counterpoint.framework.records import Draw, Index
from counterpoint.progress import tracked

PIECE = 100  # pictures that a worker reads at a time: 15 MB at 224 pixels


def read_all(source: Source, cut: Cut, *, batch: int, workers: int | None) -> Iterator[Batch]:
    """Read all images that can be read, some at a time and in order, whoever reads them.

    None gives one process per core to many pictures.
    """
    parts = torch.arange(len(source)).split(min(batch, PIECE) if source.decodes else batch)
    reader = PieceReader(source, cut)
    many = loader_workers(source, 0 if workers is None and len(parts) == 1 else workers)
    batches: Iterator[Batch] = (reader[part] for part in parts)
    if many:
        sampler: Any = parts  # a sequence of whole batches, which DataLoader's types do not know
        batches = iter(
            DataLoader(
                reader, sampler=sampler, batch_size=None, num_workers=many, collate_fn=_as_it_is
            )
        )
    for _ in tracked(parts, "embedding"):
        found = next(batches)
        if len(found.index):
            yield found


@dataclass
class PieceReader(Dataset[Batch]):
    """What a worker does."""

    source: Source
    cut: Cut

    def __getitem__(self, index: Index) -> Batch:
        return self.source.read(self.cut, Draw(0, 0, index), substitute=False)


def own_samples(source: Source) -> Index:
    """Return the samples that show themselves: others stand in for those known to be bad."""
    return all_but(len(source), torch.tensor(sorted(source.bad), dtype=torch.int64))


def _as_it_is(batch: Any) -> Any:
    """Keep DataLoader from turning tuples into lists."""
    return batch
