"""A bank over the whole data set: one remembered vector for every sample and view (CMC)."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Int64
from torch import Tensor, nn

from counterpoint.framework import Comparison, Encoded, PartError, Remembered, Samples, World
from counterpoint.framework.counting import add_to, count_of, register_count
from counterpoint.framework.philox import philox
from counterpoint.framework.records import Index, Shape, only_positive
from counterpoint.framework.sending import send
from counterpoint.parts.extraction.pooled import pool_map

Drawn = Int64[Tensor, " drawn"]
DRAW_KEY = (0x62616E6B, 0)  # "bank": a stream of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """Each view is compared with what the bank remembers of the other view.

    The positive is the sample's own entry, the negatives are entries drawn from the whole data
    set; entries follow with momentum, after scoring (HobbitLong/CMC, NCE/NCEAverage.py).

    >>> from counterpoint.framework import ALONE
    >>> bank = Bank(samples=100, negatives=8).build((((4, 1, 1),), ((4, 1, 1),)))
    >>> views = tuple((torch.randn(2, 4, 1, 1),) for _ in range(2))
    >>> comparisons = bank(Encoded(views, views), Samples(torch.tensor([5, 7])), ALONE)
    >>> [tuple(c.remembered.vectors.shape) for c in comparisons]
    [(8, 4), (8, 4)]
    """

    part: ClassVar[Literal["extraction"]] = "extraction"
    held_out: ClassVar[bool] = False
    """It remembers training images only, so its loss on others means nothing."""

    samples: int
    """How many samples the data set has."""
    negatives: int = 16_384  # HobbitLong/CMC, train_CMC.py, --nce_k
    momentum: float = 0.5  # HobbitLong/CMC, train_CMC.py, --nce_m
    start: Literal["random", "seen"] = "random"
    """What stands for a sample that was not seen yet: a random vector (HobbitLong/CMC), or what
    the other view's network gives now, so that a run of few epochs has true positives at once."""
    map: int = -1

    def __post_init__(self) -> None:
        if self.samples < 1 or self.negatives < 1 or not 0 <= self.momentum < 1:
            raise PartError(
                "extraction",
                got=f"{self.samples=}, {self.negatives=}, {self.momentum=}",
                needs="at least one sample and one negative, and a momentum from 0 to below 1",
            )

    def for_samples(self, samples: int) -> "Bank":
        """Return the same bank with an entry for each of N samples."""
        return replace(self, samples=samples)

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "BankExtraction":
        if len(maps) != 2:
            raise PartError("extraction", got=f"{len(maps)} views", needs="two, to compare")
        return BankExtraction(self, maps[0][self.map][0])


class BankExtraction(nn.Module):
    """The bank as a buffer, the same on all ranks: (view, sample, channel), of unit length."""

    entries: Tensor
    seen: Tensor
    steps: Tensor

    def __init__(self, settings: Bank, width: int) -> None:
        super().__init__()
        self.settings = settings
        start = F.normalize(torch.randn(2, settings.samples, width), dim=2)
        self.register_buffer("entries", start)
        self.register_buffer("seen", torch.zeros(settings.samples, dtype=torch.bool))
        register_count(self, "steps")

    def forward(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        index = samples.index
        if int(index.max()) >= self.settings.samples:
            raise PartError(
                "extraction",
                got=f"sample {int(index.max())} in a bank of {self.settings.samples}",
                needs="as many entries as the data set has samples",
                do=f"set Bank(samples=...) to more than {int(index.max())}",
            )
        vectors = [pool_map(maps[self.settings.map], "mean") for maps in encoded.online]
        drawn = self.drawn()
        found = tuple(self._comparison(vectors, other, index, drawn, world) for other in (1, 0))
        self.remember(vectors, index, world)
        return found

    def _comparison(
        self, vectors: list[Tensor], other: int, index: Index, drawn: Drawn, world: World
    ) -> Comparison:
        """Compare one view with what is remembered of the other."""
        anchors, identity = vectors[1 - other], only_positive(index)
        entries, where = self.entries[other], send(index, self.entries.device)
        own = entries[where].to(anchors)
        if self.settings.start == "seen":
            now = F.normalize(vectors[other].detach(), dim=1)
            own = torch.where(self.seen[where][:, None], own, now)
        return Comparison(
            anchors=anchors,
            candidates=own,
            anchor_identity=identity,
            candidate_identity=identity,
            everyone=world.everyone(lambda samples: only_positive(samples.index)),
            remembered=Remembered(entries[send(drawn, entries.device)].to(anchors), drawn),
        )

    def drawn(self) -> Drawn:
        """Draw the negatives of this step, the same on all ranks."""
        every = torch.arange(self.settings.negatives, device="cpu")
        zero, step = torch.zeros_like(every), torch.full_like(every, count_of(self, "steps"))
        words = philox((every, zero, step, zero), DRAW_KEY)
        return ((words[0] << 21) ^ words[1]) % self.settings.samples

    @torch.no_grad()
    def remember(self, vectors: list[Tensor], index: Index, world: World) -> None:
        """Move the entries of all ranks' samples towards what was just seen."""
        if not self.training:
            return
        keep = self.settings.momentum
        everyone = world.everyone(lambda samples: samples.index)
        for view, mine in enumerate(vectors):
            gathered = world.gather(F.normalize(mine.detach(), dim=1), index, everyone)
            if self.entries.is_meta:
                continue
            seen, who = gathered.vectors.to(self.entries), send(gathered.identity, mine.device)
            moved = keep * self.entries[view, who] + (1 - keep) * seen
            if self.settings.start == "seen":
                moved = torch.where(self.seen[who][:, None], moved, seen)
            self.entries[view, who] = F.normalize(moved, dim=1)
        if self.entries.is_meta:
            return
        self.seen[who] = True
        add_to(self, "steps", 1)
