"""Encoded images of varying size, with or without labels."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, overload, runtime_checkable

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.description import description, description_line
from counterpoint.data.identity import Identity
from counterpoint.data.pictures import FilePicture


@runtime_checkable
class ImageStore(Protocol):
    """Where encoded images are: the files of a folder, or the rows of Parquet files."""

    @property
    def kind(self) -> str:
        """How a description calls it."""

    def __len__(self) -> int: ...

    def path(self, place: int, /) -> Path:
        """Name one image."""

    def content(self, place: int, /) -> bytes:
        """Read one image as it is encoded."""

    def picture(self, place: int, /) -> FilePicture:
        """Read one image and its header."""

    @property
    def unopened(self) -> dict[str, int]:
        """How many files lie beside the images and are not opened, by their suffix."""

    @property
    def shut(self) -> tuple[str, ...]:
        """Folders that may not be read."""

    def identity(self) -> Identity:
        """Say by what all the images are known: names, sizes, and a sample of their content."""


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
        return self.store.path(int(self.places[number]))


def class_count(labels: Int64[Tensor, " sample"]) -> int:
    """Count the classes of labels that are numbered from 0."""
    return int(labels.max()) + 1 if len(labels) else 0


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """Image files; the number of a sample is its place here."""

    name: str
    store: ImageStore
    places: Int64[Tensor, " sample"]
    """The place of each sample in the store."""
    labels: Int64[Tensor, " sample"] | None = None
    classes: tuple[str, ...] | None = None
    """The names of the labels: those of the subfolders."""
    bad: frozenset[int] = frozenset()
    """Samples that are known to be unreadable: others stand in for them."""
    limit: int | None = None
    """How many were asked for, where these are the first of more."""

    def __len__(self) -> int:
        return len(self.places)

    def __repr__(self) -> str:
        return description_line(self.describe())

    def describe(self) -> dict[str, Any]:
        """Say what these images are, as plain data."""
        return description(
            self.store.kind,
            self.name,
            len(self),
            limit=self.limit,
            labels=self.labels is not None,
            classes=None if self.labels is None else class_count(self.labels),
            bad=len(self.bad),
            unopened=self.store.unopened,
            shut=self.store.shut,
        )

    @property
    def paths(self) -> Paths:
        """The path of every sample."""
        return Paths(self.store, self.places)

    def pictures(self, index: Int64[Tensor, " batch"]) -> list[FilePicture]:
        """Read some files and their headers."""
        return [self.store.picture(place) for place in self.places[index].tolist()]

    def subset(self, name: str, samples: Int64[Tensor, " chosen"]) -> "Files":
        """Take some samples, in the order given; what is bad keeps its place among them."""
        labels = None if self.labels is None else self.labels[samples]
        bad = torch.isin(samples, torch.tensor(sorted(self.bad), dtype=torch.int64))
        return replace(
            self,
            name=f"{self.name} {name}",
            places=self.places[samples],
            labels=labels,
            bad=frozenset(bad.nonzero().flatten().tolist()),
            limit=None,
        )

    def marked(self, bad: Collection[int]) -> "Files":
        """Note samples that are known to be unreadable."""
        return replace(self, bad=self.bad | frozenset(bad))
