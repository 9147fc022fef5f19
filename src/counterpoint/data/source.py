"""Images in memory, with or without labels."""

from dataclasses import dataclass

import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from counterpoint.data.files import Files


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Images of one size as bytes; the number of a sample is its place here.

    >>> Source("noise", torch.zeros(5, 3, 8, 8, dtype=torch.uint8))
    noise: 5 images, 3 x 8 x 8, no labels
    """

    name: str
    images: UInt8[Tensor, "sample channel height width"]
    labels: Int64[Tensor, " sample"] | None = None
    classes: tuple[str, ...] | None = None
    """The names of the labels, where they are known."""

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        channels, height, width = self.images.shape[1:]
        labels = "no labels" if self.labels is None else f"{int(self.labels.max()) + 1} classes"
        return f"{self.name}: {len(self):,} images, {channels} x {height} x {width}, {labels}"

    def subset(self, name: str, samples: Int64[Tensor, " chosen"]) -> "Source":
        """Take some samples, in the order given."""
        labels = None if self.labels is None else self.labels[samples]
        return Source(f"{self.name} {name}", self.images[samples], labels, self.classes)


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """What training sees, what choices are made on, and what is scored once at the end."""

    train: Source | Files
    validation: Source | Files
    test: Source | Files

    def head(self, count: int) -> "Splits":
        """Take at most the first `count` images of each split, for a quick look."""
        parts = (self.train, self.validation, self.test)
        some = (torch.arange(min(count, len(part))) for part in parts)
        return Splits(*(p.subset(f"first {count:,}", s) for p, s in zip(parts, some, strict=True)))
