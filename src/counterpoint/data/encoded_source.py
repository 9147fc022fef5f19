"""Pictures of varying size, decoded as they are read: files, rows, items of a dataset."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, overload, runtime_checkable

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.batch import Batch, bad_rows
from counterpoint.data.description import description_line, source_record
from counterpoint.data.fingerprint import digest_numbers, encoded_fingerprint
from counterpoint.data.identity import Identity
from counterpoint.data.quarantine import Kind
from counterpoint.data.reading import known_bad, read_cuts, read_own
from counterpoint.data.source import (
    Cut,
    SampleNumbers,
    StoredImage,
    StoredPicture,
    all_but,
    class_count,
    renumbered,
)
from counterpoint.framework.records import Draw


@runtime_checkable
class ImageStore(Protocol):
    """Where encoded images are: the files of a folder, rows of Parquet, the items of a dataset."""

    @property
    def kind(self) -> str:
        """How a description calls it."""

    def __len__(self) -> int: ...

    def path(self, place: int, /) -> Path | str | None:
        """Name one image, where it has a name."""

    def stored(self, place: int, /) -> StoredImage:
        """Read one image as it is stored."""

    @property
    def unopened(self) -> dict[str, int]:
        """How many files lie beside the images and are not opened, by their suffix."""

    @property
    def shut(self) -> tuple[str, ...]:
        """Folders that may not be read."""

    def identity(self) -> Identity:
        """Say by what all the images are known: names, sizes, and a sample of their content."""


@runtime_checkable
class ItemLabels(Protocol):
    """Labels that are read when they are asked for."""

    def __getitem__(self, places: Int64[Tensor, " some"], /) -> Int64[Tensor, " some"]: ...


@dataclass(frozen=True, slots=True, eq=False)
class EncodedSource:
    """Pictures of a store; the number of a sample is its place here.

    >>> from counterpoint.data import as_source
    >>> import numpy as np
    >>> pictures = as_source([np.zeros((8, 9, 3), np.uint8), np.zeros((7, 5, 3), np.uint8)])
    >>> type(pictures).__name__, len(pictures)
    ('EncodedSource', 2)
    """

    name: str
    store: ImageStore
    places: Int64[Tensor, " sample"]
    """The place of each sample in the store."""
    labels: Int64[Tensor, " place"] | ItemLabels | None = None
    """By place in the store, so that no split copies them."""
    classes: tuple[str, ...] | None = None
    """The names of the labels: those of the subfolders."""
    bad: Mapping[int, Kind] = field(default_factory=dict)
    limit: int | None = None
    """How many were asked for, where these are the first of more."""

    def __len__(self) -> int:
        return len(self.places)

    def __repr__(self) -> str:
        return description_line(self.describe())

    @property
    def has_labels(self) -> bool:
        return self.labels is not None

    @property
    def one_shape(self) -> None:
        return None

    @property
    def decodes(self) -> bool:
        return True

    @property
    def shards(self) -> None:
        return None

    @property
    def paths(self) -> "Paths":
        """The path of every sample."""
        return Paths(self.store, self.places)

    def labels_of(self, samples: SampleNumbers) -> Int64[Tensor, " some"]:
        if self.labels is None:
            raise ValueError(f"data: {self!r}; needs labels")
        return self.labels[self.places[samples]]

    def read(self, cut: Cut | None, draw: Draw, *, substitute: bool = True) -> Batch:
        assert cut is not None, "pictures of varying size need the views' cut"
        if not substitute:
            return Batch(*read_own(self, cut, draw), bad_rows([]))
        cuts, bad = read_cuts(self, cut, draw)
        return Batch(cuts, draw.index, bad_rows(bad))

    def stored(self, sample: int) -> StoredImage:
        return self.store.stored(int(self.places[sample]))

    def pictures(self, index: SampleNumbers) -> list[StoredPicture]:
        """Read some pictures and their headers."""
        return [self.stored(sample).picture() for sample in index.tolist()]

    def path(self, sample: int) -> str | None:
        found = self.store.path(int(self.places[sample]))
        return None if found is None else str(found)

    def subset(self, name: str, samples: SampleNumbers) -> "EncodedSource":
        return replace(
            self,
            name=f"{self.name} {name}",
            places=self.places[samples],
            bad=renumbered(self.bad, samples),
            limit=None,
        )

    def without(self, name: str, samples: SampleNumbers) -> "EncodedSource":
        return self.subset(name, all_but(len(self), samples))

    def first(self, count: int) -> "EncodedSource":
        some = self.subset(f"first {count:,}", torch.arange(min(count, len(self))))
        return replace(some, limit=count)

    def named(self, name: str) -> "EncodedSource":
        return replace(self, name=name)

    def marked(self, samples: Collection[int]) -> "EncodedSource":
        return replace(self, bad=known_bad(self, samples))

    def fingerprint(self) -> str:
        known = "none" if self.labels is None else "items"
        labels = self._known_labels()
        known = known if labels is None else digest_numbers(labels)
        return encoded_fingerprint(self.store.kind, self.store.identity(), self.places, known)

    def _known_labels(self) -> Int64[Tensor, " sample"] | None:
        """Return all labels, where none has to be read from its item."""
        return self.labels[self.places] if isinstance(self.labels, Tensor) else None

    def describe(self) -> dict[str, Any]:
        labels = self._known_labels()
        named = None if self.classes is None else len(self.classes)
        return source_record(
            self.store.kind,
            self.name,
            len(self),
            limit=self.limit,
            labels=self.has_labels,
            classes=named if labels is None else class_count(labels),
            bad=len(self.bad),
            unopened=self.store.unopened,
            shut=self.store.shut,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Paths(Sequence[Path]):
    """The paths of a store, each made when it is asked for."""

    store: ImageStore
    places: Int64[Tensor, " sample"]

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, number: int) -> Path: ...

    @overload
    def __getitem__(self, number: slice) -> "Paths": ...

    def __getitem__(self, number: int | slice) -> "Path | Paths":
        if isinstance(number, slice):
            return Paths(self.store, self.places[number])
        found = self.store.path(int(self.places[number]))
        assert found is not None, f"{self.store.kind} has no paths"
        return Path(found)
