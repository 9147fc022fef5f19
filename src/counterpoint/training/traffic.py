"""What the ranks of a training step give to each other, found on the meta device."""

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from jaxtyping import Float, Int64, Num
from torch import Tensor

from counterpoint.data.order import share_sizes
from counterpoint.framework import Everyone, Gathered, Model
from counterpoint.framework.batch_samples import blank_samples
from counterpoint.framework.model import gathers, in_slices
from counterpoint.framework.optional import takes_slices
from counterpoint.framework.row_place import Found, Read, RowNumbers, long_memories
from counterpoint.framework.settings import Training
from counterpoint.framework.wire import Exchange, slices_for
from counterpoint.framework.world import Identify, Once, Slices
from counterpoint.training.checkpoints.divided_rows import rows_of_rank
from counterpoint.training.cost import blank_views, shadow
from counterpoint.training.rank_rows import gathered_places, packed
from counterpoint.training.rank_slices import RankSlices


def exchanges_of(model: Model, training: Training, *, ranks: int) -> tuple[Exchange, ...]:
    """Return what each rank gives to all others in a step; nothing is computed for it.

    These are the candidates, what a queue or a bank learns of other ranks, and the rows of a bank
    that a rank does not hold, those of the step that comes next. Sums (counts of
    terms, batch statistics, the gradient of the weights) are not among them.

    >>> from counterpoint import simclr
    >>> model = simclr().build(image=(3, 32, 32))
    >>> exchanges_of(model, Training(batch=512), ranks=8)[0].bytes(8)
    917504
    """
    if ranks == 1:
        return ()
    images = max(share_sizes(training.micro_batch, lanes=training.lanes or 1, ranks=ranks))
    world = PlannedRanks(ranks, training.slice_bytes, max(1, takes_slices(model.loss)))
    with torch.device("meta"):
        encoder, extraction = shadow(model.encoder), shadow(model.extraction)
        similarity = shadow(model.similarity)
        seen = Model(model.views, encoder, extraction, similarity, model.loss)
        for _, memory in long_memories(seen):
            memory.place = PlannedRows(memory.length, ranks, world.found)
        encoded = seen.encode(blank_views(model, images=images))
        samples = blank_samples(images, labels=model.needs_labels)
        compared = seen.extraction(encoded, samples, world)
        if gathers(model):
            reach = Once(world, in_slices(model))
            for comparison in compared:
                seen.similarity(comparison, reach)
    return tuple(world.found)


@dataclass(frozen=True, slots=True)
class PlannedRows:
    """Rows that ranks would divide: what is asked of them is written down."""

    length: int
    ranks: int
    found: list[Exchange]
    divided: ClassVar[bool] = True

    @property
    def held(self) -> range:
        return rows_of_rank(self.length, 0, self.ranks)

    def own(self, read: Read, wanted: RowNumbers, everyone: Everyone | None) -> Found:  # noqa: ARG002
        return self._noted(read(wanted), len(wanted), scattered=True)

    def same(self, read: Read, wanted: RowNumbers) -> Found:
        _, longest = gathered_places(wanted, self.length, self.ranks)
        return self._noted(read(wanted), longest, scattered=False)

    def kept(self, rows: RowNumbers) -> tuple[RowNumbers, RowNumbers]:
        return rows, rows

    def _noted(self, rows: Found, given: int, *, scattered: bool) -> Found:
        together, _ = packed(rows)
        self.found.append(
            Exchange(
                rows=given,
                width=together.shape[1],
                gradient=False,
                itemsize=together.element_size(),
                scattered=scattered,
            )
        )
        return rows


@dataclass(frozen=True, slots=True)
class PlannedRanks:
    """Ranks that are not there: what they are asked to gather is written down."""

    size: int
    budget: float
    walks: int = 1
    """Forward walks over slices."""
    rank: int = 0
    found: list[Exchange] = field(default_factory=list)

    def images(self, own: int) -> tuple[int, ...]:
        return (own,) * self.size

    def everyone(self, identify: Identify) -> None:  # noqa: ARG002 (nobody is there)
        return None

    def gather(
        self,
        vectors: Num[Tensor, "own channel"],
        identity: Int64[Tensor, " own"],
        everyone: Everyone | None = None,  # noqa: ARG002
    ) -> Gathered:
        self.found.append(self._exchange(vectors, slices=1))
        sizes = (len(vectors),) * self.size
        return Gathered(vectors.repeat(self.size, 1), identity.repeat(self.size), 0, sizes)

    def slices(
        self,
        vectors: Float[Tensor, "own channel"],
        everyone: Everyone | None,  # noqa: ARG002
    ) -> Slices | None:
        rows, width, size = len(vectors), vectors.shape[1], vectors.element_size()
        count = slices_for(rows, width, ranks=self.size, budget=self.budget, itemsize=size)
        if count == 1:
            return None
        self.found.append(self._exchange(vectors, slices=count))
        nobody = Everyone(torch.zeros(0, dtype=torch.int64), (rows,) * self.size)
        return RankSlices(nobody, count, self.rank)

    def total(self, count: Float[Tensor, ""]) -> Float[Tensor, ""]:
        return count

    def sum(self, values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return values

    def _exchange(self, vectors: Tensor, *, slices: int) -> Exchange:
        return Exchange(
            rows=len(vectors),
            width=vectors.shape[1],
            gradient=vectors.requires_grad,
            slices=slices,
            walks=self.walks,
            itemsize=vectors.element_size(),
        )
