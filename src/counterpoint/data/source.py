"""Images in memory, with or without labels."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from counterpoint.data.checked import check_images, check_labels
from counterpoint.data.description import description, description_line
from counterpoint.data.files import Files, class_count
from counterpoint.data.quarantine import Bad, substitute


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
    bad: tuple[Bad, ...] = ()
    """Samples that cannot be read: each shows the pixels and the label of another."""
    limit: int | None = None
    """How many were asked for, where these are the first of more."""

    def __post_init__(self) -> None:
        check_images(self.name, self.images)
        if self.labels is not None:
            check_labels(self.name, self.labels, len(self.images))

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        return description_line(self.describe())

    def describe(self) -> dict[str, Any]:
        """Say what these images are, as plain data."""
        return description(
            "memory",
            self.name,
            len(self),
            limit=self.limit,
            shape=self.images.shape[1:],
            labels=self.labels is not None,
            classes=None if self.labels is None else class_count(self.labels),
            bad=len(self.bad),
        )

    def subset(self, name: str, samples: Int64[Tensor, " chosen"]) -> "Source":
        """Take some samples, in the order given; what is bad keeps its place among them."""
        return replace(
            self,
            name=f"{self.name} {name}",
            images=self.images[samples],
            labels=None if self.labels is None else self.labels[samples],
            bad=_renumbered(self.bad, samples),
            limit=None,
        )

    def marked(self, bad: Collection[int]) -> "Source":
        """Put others in the place of samples that are known to be bad."""
        known = {b.sample for b in self.bad}
        # Bytes have nothing that could be broken: that they are no images is the caller's word.
        more = tuple(Bad(sample, "not an image") for sample in sorted(bad) if sample not in known)
        listed = tuple(sorted(self.bad + more, key=lambda b: b.sample))
        return stood_in(replace(self, images=self.images.clone(), bad=listed))


def _renumbered(bad: tuple[Bad, ...], samples: Int64[Tensor, " chosen"]) -> tuple[Bad, ...]:
    kinds = {b.sample: b.kind for b in bad}
    among = torch.isin(samples, torch.tensor(sorted(kinds), dtype=torch.int64))
    places = among.nonzero().flatten().tolist()
    return tuple(Bad(place, kinds[int(samples[place])]) for place in places)


def stood_in(source: Source) -> Source:
    """Give every bad sample the pixels and the label of the one that stands in for it.

    Who stands in depends only on which samples are bad. The images are written to, not copied:
    this is for whoever has just made them.

    >>> images = torch.arange(4, dtype=torch.uint8)[:, None, None, None].clone()
    >>> stood_in(Source("four", images, bad=(Bad(2, "empty"),))).images.flatten()
    tensor([0, 1, 3, 3], dtype=torch.uint8)
    """
    bad, count = {b.sample for b in source.bad}, len(source)
    if not bad:
        return source
    others = [substitute(s, count, readable=lambda other: other not in bad) for s in sorted(bad)]
    places = torch.tensor(sorted(bad))
    source.images[places] = source.images[torch.tensor(others)]
    if source.labels is None:
        return source
    labels = source.labels.clone()
    labels[places] = labels[torch.tensor(others)]
    return replace(source, labels=labels)


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """What training sees, what choices are made on, and what is scored once at the end."""

    train: Source | Files
    validation: Source | Files
    test: Source | Files
    labelled: Source | Files | None = None
    """What probes learn from, where the images that training sees have no labels."""

    def __repr__(self) -> str:
        more = "" if self.labelled is None else f", {len(self.labelled):,} to learn labels from"
        return (
            f"{self.train!r}{more}, {len(self.validation):,} to choose by, "
            f"{len(self.test):,} to score"
        )

    def head(self, count: int) -> "Splits":
        """Take at most the first `count` images of each split, for a quick look."""
        return Splits(
            _first(self.train, count),
            _first(self.validation, count),
            _first(self.test, count),
            None if self.labelled is None else _first(self.labelled, count),
        )

    def for_probes(self) -> "Splits":
        """Give the splits that probes work on: the labelled images take the place of `train`."""
        return self if self.labelled is None else replace(self, train=self.labelled, labelled=None)

    def marked(self, bad: Collection[int]) -> "Splits":
        """Note samples of the training split that are known to be bad."""
        if outside := sorted(sample for sample in bad if not 0 <= sample < len(self.train)):
            raise ValueError(
                f"data: got sample {outside[0]} as known to be bad, but {self.train!r}; "
                "needs numbers of these images: was the data changed since they were noted?"
            )
        return replace(self, train=self.train.marked(bad)) if bad else self


def _first(part: Source | Files, count: int) -> Source | Files:
    some = part.subset(f"first {count:,}", torch.arange(min(count, len(part))))
    return replace(some, limit=count)
