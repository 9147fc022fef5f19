"""A bank over the whole data set: one remembered vector for every sample and view."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Int64
from torch import Tensor, nn

from counterpoint.framework import (
    Comparison,
    Encoded,
    Everyone,
    PartError,
    Remembered,
    Samples,
    World,
)
from counterpoint.framework.codec import LATER
from counterpoint.framework.counting import add_to, count_of, register_count
from counterpoint.framework.philox import philox
from counterpoint.framework.records import Index, Shape, only_positive
from counterpoint.framework.row_place import Found, RowNumbers, RowPlace, Whole
from counterpoint.framework.sending import send
from counterpoint.parts.extraction.first_entries import drawn_at_once, entries_of_rows
from counterpoint.parts.extraction.pooled import pool_map

Drawn = Int64[Tensor, " drawn"]
DRAW_KEY = (0x62616E6B, 0)  # "bank": a stream of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """Each view is compared with what the bank remembers of the other view, one with its own.

    The positive is the sample's own entry, the negatives are entries of the whole data set;
    entries follow with momentum, after scoring (CMC with two views: HobbitLong/CMC,
    NCE/NCEAverage.py; instance discrimination with one: zhirongw/lemniscate.pytorch). A bank of
    the first view is what every view is compared with (PIRL).

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
    negatives: int | Literal["all"] = 16_384  # HobbitLong/CMC, train_CMC.py, --nce_k
    """How many entries are drawn in each step; "all" takes every other sample, once."""
    momentum: float = 0.5  # HobbitLong/CMC, train_CMC.py, --nce_m
    start: Literal["random", "seen"] = "random"
    """What stands for a sample that was not seen yet: a random vector (HobbitLong/CMC), or what
    the other view's network gives now, so that a run of few epochs has true positives at once."""
    map: int = -1
    remembers: Literal["each", "first"] = field(default="each", metadata=LATER)
    """Whose entries there are: of each view, to compare the other with, or of the first for all."""

    def __post_init__(self) -> None:
        drawn = 1 if self.negatives == "all" else self.negatives
        if self.samples < 1 or drawn < 1 or not 0 <= self.momentum < 1:
            raise PartError(
                "extraction",
                got=f"{self.samples=}, {self.negatives=}, {self.momentum=}",
                needs="at least one sample and one negative, and a momentum from 0 to below 1",
            )

    def for_samples(self, samples: int) -> "Bank":
        """Return the same bank with an entry for each of N samples."""
        return replace(self, samples=samples)

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "BankExtraction":
        if len(maps) not in (1, 2):
            raise PartError("extraction", got=f"{len(maps)} views", needs="one or two, to compare")
        return BankExtraction(self, maps[0][self.map][0], views=len(maps))


class BankExtraction(nn.Module):
    """The bank as a buffer: (view, sample, channel), of unit length.

    It asks its place for entries: all of them are here, or the ranks have divided them.
    """

    row_buffers: ClassVar[dict[str, int]] = {"entries": 1, "seen": 0}
    entries: Tensor
    seen: Tensor
    steps: Tensor

    def __init__(self, settings: Bank, width: int, *, views: int) -> None:
        super().__init__()
        self.settings, self.length = settings, settings.samples
        other = settings.remembers == "each"
        self.pairs = [(view, views - 1 - view if other else 0) for view in range(views)]
        self.views = views if other else 1
        self.place: RowPlace = Whole(settings.samples)
        start = drawn_at_once(settings.samples, width, views=self.views)
        self.by_row, self.drawn_yet, self.seed = start is None, start is not None, 0
        if start is None:  # its entries are drawn where they are held
            self.seed = int(torch.randint(1 << 62, (), device="cpu"))
            start = torch.empty(self.views, 0, width)
        self.register_buffer("entries", start)
        self.register_buffer("seen", torch.zeros(start.shape[1], dtype=torch.bool))
        register_count(self, "steps")
        on_load: Any = self.register_load_state_dict_pre_hook
        on_load(_take_entries)

    def hold(self, place: RowPlace) -> None:
        """Keep the entries of a place; those of a large bank are drawn now."""
        rows, before = place.held, self.place.held
        if not self.drawn_yet:
            drawn = entries_of_rows(self.seed, rows, self.entries.shape[2], views=self.views)
            self.entries = drawn.to(self.entries)
            self.seen = self.seen.new_zeros(len(rows))
            self.drawn_yet = True
        elif rows != before:
            some = slice(rows.start - before.start, rows.stop - before.start)
            self.entries, self.seen = self.entries[:, some].clone(), self.seen[some].clone()
        self.place = place

    def become_whole(self, buffers: Mapping[str, Tensor]) -> None:
        """Take the entries of all ranks; a bank that is too large for that lets go of its own."""
        none = {"entries": self.entries[:, :0].clone(), "seen": self.seen[:0].clone()}
        found = none if self.by_row else buffers
        self.entries = found["entries"].to(self.entries).contiguous()
        self.seen = found["seen"].to(self.seen)
        self.drawn_yet, self.place = not self.by_row, Whole(self.length)

    def forward(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        index = samples.index
        if int(index.max()) >= self.settings.samples:
            raise PartError(
                "extraction",
                got=f"sample {int(index.max())} in a bank of {self.settings.samples}",
                needs="as many entries as the data set has samples",
                do=f"set Bank(samples=...) to more than {int(index.max())}",
            )
        if not self.drawn_yet:
            self.hold(self.place)
        vectors = [pool_map(maps[self.settings.map], "mean") for maps in encoded.online]
        everyone = world.everyone(lambda samples: samples.index)
        batch: RowNumbers = index
        if self.settings.negatives == "all":  # only then the samples of the other ranks matter
            batch = (everyone or world.gather(vectors[0][:, :1].detach(), index)).identity
        drawn = self.drawn(batch)
        own = self.place.own(self.read, index, everyone)
        past = self.place.same(self.read_entries, drawn)
        found = tuple(
            self._comparison(vectors, pair, samples, own, world, Remembered(past[pair[1]], drawn))
            for pair in self.pairs
        )
        self.remember(vectors[: self.views], index, world, everyone)
        return found

    def _comparison(
        self,
        vectors: list[Tensor],
        pair: tuple[int, int],
        samples: Samples,
        entries: Found,
        world: World,
        past: Remembered,
    ) -> Comparison:
        """Compare one view with what is remembered of another."""
        view, entry = pair
        anchors, identity = vectors[view], self.identify(samples)
        own, seen = entries[entry].to(anchors), entries[self.views]
        if self.settings.start == "seen":
            now = F.normalize(vectors[entry].detach(), dim=1)
            own = torch.where(seen[:, None], own, now)
        return Comparison(
            anchors=anchors,
            candidates=own,
            anchor_identity=identity,
            candidate_identity=identity,
            everyone=world.everyone(self.identify),
            remembered=Remembered(past.vectors.to(anchors), past.identity),
        )

    def identify(self, samples: Samples) -> Index:
        """Identify candidates: if all others are negatives, those of the batch are among them."""
        everything = self.settings.negatives == "all"
        return samples.index if everything else only_positive(samples.index)

    def read_entries(self, rows: RowNumbers) -> Found:
        """Read what is remembered of some samples, of each view."""
        where = send(rows, self.entries.device)
        return tuple(entries[where] for entries in self.entries)

    def read(self, rows: RowNumbers) -> Found:
        """Read the same, and whether they were seen."""
        return *self.read_entries(rows), self.seen[send(rows, self.seen.device)]

    def needed(self, index: RowNumbers) -> RowNumbers:
        """Return the rows of some samples and of this step's negatives."""
        return torch.cat([index, self.drawn(index)])

    def drawn(self, batch: RowNumbers) -> Drawn:
        """Draw the negatives of this step, the same on all ranks, or take all but the batch."""
        if self.settings.negatives == "all":
            others = torch.ones(self.settings.samples, dtype=torch.bool, device="cpu")
            others[batch.cpu()] = False
            return others.nonzero()[:, 0]
        every = torch.arange(self.settings.negatives, device="cpu")
        zero, step = torch.zeros_like(every), torch.full_like(every, count_of(self, "steps"))
        words = philox((every, zero, step, zero), DRAW_KEY)
        return ((words[0] << 21) ^ words[1]) % self.settings.samples

    @torch.no_grad()
    def remember(
        self, vectors: list[Tensor], index: Index, world: World, everyone: Everyone | None
    ) -> None:
        """Move the entries of all ranks' samples towards what was just seen."""
        if not self.training:
            return
        keep = self.settings.momentum
        for view, mine in enumerate(vectors):
            gathered = world.gather(F.normalize(mine.detach(), dim=1), index, everyone)
            if self.entries.is_meta:
                continue
            some, rows = self.place.kept(gathered.identity)
            who = send(rows, mine.device)
            here = some if isinstance(some, slice) else send(some, mine.device)
            seen = gathered.vectors[here].to(self.entries)
            moved = keep * self.entries[view, who] + (1 - keep) * seen
            if self.settings.start == "seen":
                moved = torch.where(self.seen[who][:, None], moved, seen)
            self.entries[view, who] = F.normalize(moved, dim=1)
        if self.entries.is_meta:
            return
        self.seen[who] = True
        add_to(self, "steps", 1)


def _take_entries(bank: nn.Module, state: dict[str, Any], prefix: str, *_others: Any) -> None:
    """Make room for the entries of a file in a large bank that has none yet."""
    assert isinstance(bank, BankExtraction)
    entries = state.get(f"{prefix}entries")
    if not bank.drawn_yet and entries is not None and entries.shape[1]:
        bank.entries = entries.new_empty(entries.shape)
        bank.seen = bank.seen.new_zeros(entries.shape[1])
        bank.drawn_yet = True
