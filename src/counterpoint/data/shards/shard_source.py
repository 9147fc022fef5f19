"""Images in shards as a source; nothing in it is as long as the data."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.batch import Batch, bad_rows
from counterpoint.data.description import description_line, source_record
from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.fingerprint import shard_fingerprint
from counterpoint.data.quarantine import Kind
from counterpoint.data.reading import known_bad, read_cuts, read_own
from counterpoint.data.shards.shard_places import ShardLabels, ShardPlaces
from counterpoint.data.shards.shard_store import ShardStore
from counterpoint.data.shards.shard_window import Counts, ShardWindow
from counterpoint.data.shards.whole_pictures import whole_pictures
from counterpoint.data.source import Cut, SampleNumbers, StoredImage, renumbered
from counterpoint.framework.records import Draw, Shape

NONE = torch.arange(0)
ORDERS = 256  # shards whose order of rows is kept: 20 kB for one of 5,000 images


@dataclass(frozen=True, eq=False)
class ShardSource:
    """Samples of shards; the number of one is its place here, shard after shard.

    A split is a window of each shard's rows (`ShardWindow`); what is left out besides is a few
    numbers.
    """

    name: str
    store: ShardStore
    window: ShardWindow
    one_shape: Shape | None = None
    """The shape of every image, where whoever made the shards looked at all of them."""
    bad: Mapping[int, Kind] = field(default_factory=dict)
    limit: int | None = None
    """How many were asked for, where these are the first of more."""
    left_out: Int64[Tensor, " out"] = field(default_factory=lambda: NONE)
    """Samples of the window that are not among these, in their order."""
    label_count: int | None = None
    """How many labels there are, where they have no names."""
    rows: Callable[[int], npt.NDArray[np.int32]] = field(init=False, repr=False)
    """The order of the rows of a shard, where they are permuted; those used last are kept."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", _kept_orders(self.window))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        kept = [one.name for one in fields(self) if one.init]
        return type(self), tuple(getattr(self, name) for name in kept)

    @classmethod
    def of(cls, name: str, store: ShardStore) -> "ShardSource":
        """Take every record of some shards."""
        return cls(name, store, ShardWindow.whole(store.counts))

    def __len__(self) -> int:
        return len(self.window) - len(self.left_out)

    def __repr__(self) -> str:
        return description_line(self.describe())

    @property
    def kind(self) -> str:
        return self.store.kind

    @property
    def classes(self) -> tuple[str, ...] | None:
        return self.store.classes

    @property
    def has_labels(self) -> bool:
        return self.store.has_labels

    @property
    def decodes(self) -> bool:
        return True

    @property
    def shards(self) -> "SourceShards":
        return SourceShards(self._counts(), self.store)

    def _counts(self) -> Counts:
        if not len(self.left_out):
            return self.window.counts
        shards, _ = ShardWindow.whole(self.window.counts).places(self.left_out)
        return self.window.counts - shards.bincount(minlength=len(self.window.counts))

    def labels_of(self, samples: SampleNumbers) -> Int64[Tensor, " some"]:
        if not self.has_labels:
            raise ValueError(f"data: {self!r}; needs labels")
        shards, rows = self.window.places(self._numbers(samples))
        found = torch.empty_like(rows)
        for shard in shards.unique().tolist():
            own = shards == shard
            found[own] = self.store.labels(shard, rows[own])
        return found

    def read(self, cut: Cut | None, draw: Draw, *, substitute: bool = True) -> Batch:
        wanted = cut if self.one_shape is None else whole_pictures(self.one_shape)
        assert wanted is not None, "pictures of varying size need the views' cut"
        bad = bad_rows([])
        if substitute:
            cuts, found = read_cuts(self, wanted, draw)
            index, bad = draw.index, bad_rows(found)
        else:
            cuts, index = read_own(self, wanted, draw)
        if self.one_shape is None:
            return Batch(cuts, index, bad)
        none = torch.empty(0, *self.one_shape, dtype=torch.uint8)  # not one could be read
        return Batch(cuts[0] if cuts else none, index, bad)

    def stored(self, sample: int) -> StoredImage:
        return self.store.stored(*self.place(sample))

    def path(self, sample: int) -> str:
        return self.store.path(*self.place(sample))

    def place(self, sample: int) -> tuple[int, int]:
        """Return the shard of a sample, and its row there."""
        if len(self.left_out):
            sample = int(self._numbers(torch.tensor([sample])))
        shard, place = self.window.place(sample)
        return shard, place if self.window.key is None else int(self.rows(shard)[place])

    def _numbers(self, samples: SampleNumbers) -> SampleNumbers:
        """Return the numbers of samples in the window."""
        before = self.left_out - torch.arange(len(self.left_out))
        return samples + torch.searchsorted(before, samples, right=True)

    def subset(self, name: str, samples: SampleNumbers) -> EncodedSource:
        labels = ShardLabels(self) if self.has_labels else None
        every = EncodedSource(self.name, ShardPlaces(self), NONE, labels, self.classes)
        bad = renumbered(self.bad, samples)
        return replace(every, places=samples, name=f"{self.name} {name}", bad=bad)

    def without(self, name: str, samples: SampleNumbers) -> "ShardSource":
        gone = samples.unique()
        known = torch.tensor([*self.bad], dtype=torch.int64)
        stays = known[~torch.isin(known, gone)]
        places = stays - torch.searchsorted(gone, stays)  # less those that go before it
        return replace(
            self,
            name=f"{self.name} {name}",
            left_out=torch.cat([self.left_out, self._numbers(gone)]).unique(),
            limit=None,
            bad={p: self.bad[s] for p, s in zip(places.tolist(), stays.tolist(), strict=True)},
        )

    def windows(self, names: Sequence[str], held: Sequence[int], key: int) -> list["ShardSource"]:
        """Hold parts out of every shard; return the rest, and each part."""
        assert not len(self.left_out), "shards of which single samples are left out have no windows"
        parts = self.window.split(held, key)
        shown = zip(names, parts, strict=True)
        return [
            replace(self, name=f"{self.name} {name}", window=part, bad=self._bad_in(part))
            for name, part in shown
        ]

    def _bad_in(self, part: ShardWindow) -> dict[int, Kind]:
        """Return what is bad of a part, by the part's own numbers."""
        places = {self.place(sample): why for sample, why in self.bad.items()}
        found = {part.sample(*place): why for place, why in places.items()}
        return {sample: found[sample] for sample in sorted(s for s in found if s is not None)}

    def first(self, count: int) -> "ShardSource":
        count = min(count, len(self))
        last = int(self._numbers(torch.tensor([count - 1]))) + 1 if count else 0
        return replace(
            self,
            name=f"{self.name} first {count:,}",
            window=self.window.first(last),
            left_out=self.left_out[self.left_out < last],
            bad={sample: why for sample, why in self.bad.items() if sample < count},
            limit=count,
        )

    def named(self, name: str) -> "ShardSource":
        return replace(self, name=name)

    def marked(self, samples: Collection[int]) -> "ShardSource":
        return replace(self, bad=known_bad(self, samples))

    def fingerprint(self) -> str:
        window = self.window
        firsts = NONE if window.firsts is None else window.firsts
        key = torch.tensor([-1 if window.key is None else window.key, len(self)])
        known = self.store.identity()
        parts = torch.cat([key, window.counts, firsts, self.left_out])
        labels = "shards" if self.has_labels else "none"
        return shard_fingerprint(self.kind, known, len(self), parts, labels)

    def describe(self) -> dict[str, Any]:
        names = self.classes
        return source_record(
            self.kind,
            self.name,
            len(self),
            limit=self.limit,
            shape=self.one_shape,
            labels=self.has_labels,
            classes=self.label_count if names is None else len(names),
            bad=len(self.bad),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SourceShards:
    """How the samples of a source lie in its shards."""

    counts: Counts
    store: ShardStore

    def expect(self, shards: Sequence[int]) -> None:
        """Say which shards are read next, in this order."""
        self.store.expect(shards)

    @property
    def mixed(self) -> bool:
        """Whether the samples were mixed over all shards when those were written."""
        return self.store.mixed

    @property
    def most_open(self) -> int | None:
        """How many shards a process holds at a time; None where a sample is read alone."""
        return self.store.most_open


def _kept_orders(window: ShardWindow) -> Callable[[int], npt.NDArray[np.int32]]:
    """Compute the order of a shard's rows once: place by place costs more than to read one."""

    @lru_cache(maxsize=ORDERS)
    def rows(shard: int) -> npt.NDArray[np.int32]:
        return window.permutation(shard)(torch.arange(int(window.rows[shard]))).int().numpy()

    return rows
