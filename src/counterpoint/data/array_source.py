"""Images in memory, with or without labels."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from counterpoint.data.batch import Batch, bad_rows
from counterpoint.data.checked import check_images, check_labels
from counterpoint.data.decoded_picture import StoredPixels
from counterpoint.data.description import description_line, source_record
from counterpoint.data.fingerprint import digest_images
from counterpoint.data.quarantine import Kind, substitute
from counterpoint.data.source import Cut, SampleNumbers, all_but, class_count, renumbered
from counterpoint.framework.records import Draw, Shape


@dataclass(frozen=True, slots=True, eq=False)
class ArraySource:
    """Images of one size as bytes, in memory or mapped into it.

    >>> ArraySource("noise", torch.zeros(5, 3, 8, 8, dtype=torch.uint8))
    noise: 5 images, 3 x 8 x 8, no labels
    """

    name: str
    images: UInt8[Tensor, "sample channel height width"]
    labels: Int64[Tensor, " sample"] | None = None
    classes: tuple[str, ...] | None = None
    bad: Mapping[int, Kind] = field(default_factory=dict)
    """Each shows the pixels and the label of another: see `stood_in`."""
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

    @property
    def has_labels(self) -> bool:
        return self.labels is not None

    @property
    def one_shape(self) -> Shape:
        return tuple(self.images.shape[1:])

    @property
    def decodes(self) -> bool:
        return False

    @property
    def shards(self) -> None:
        return None

    def labels_of(self, samples: SampleNumbers) -> Int64[Tensor, " some"]:
        if self.labels is None:
            raise ValueError(f"data: {self!r}; needs labels")
        return self.labels[samples]

    def read(self, _cut: Cut | None, draw: Draw, *, substitute: bool = True) -> Batch:
        index = draw.index
        if self.bad and not substitute:
            index = index[~torch.isin(index, torch.tensor(sorted(self.bad)))]
        return Batch(self.images[index], index, bad_rows([]))

    def stored(self, sample: int) -> StoredPixels:
        return StoredPixels(self.images[sample], "in memory", "RGB")

    def path(self, _sample: int) -> None:
        return None

    def subset(self, name: str, samples: SampleNumbers) -> "ArraySource":
        return replace(
            self,
            name=f"{self.name} {name}",
            images=self.images[samples],
            labels=None if self.labels is None else self.labels[samples],
            bad=renumbered(self.bad, samples),
            limit=None,
        )

    def without(self, name: str, samples: SampleNumbers) -> "ArraySource":
        return self.subset(name, all_but(len(self), samples))

    def first(self, count: int) -> "ArraySource":
        some = self.subset(f"first {count:,}", torch.arange(min(count, len(self))))
        return replace(some, limit=count)

    def named(self, name: str) -> "ArraySource":
        return replace(self, name=name)

    def marked(self, samples: Collection[int]) -> "ArraySource":
        new = {sample for sample in samples if sample not in self.bad}
        if not new:
            return self
        # Bytes have nothing that could be broken: that they are not images is the caller's word.
        more: dict[int, Kind] = dict.fromkeys(new, "not an image")
        bad = dict(sorted({**self.bad, **more}.items()))
        return stood_in(replace(self, images=self.images.clone(), bad=bad))

    def fingerprint(self) -> str:
        return digest_images(self.images, self.labels)

    def describe(self) -> dict[str, Any]:
        return source_record(
            "memory",
            self.name,
            len(self),
            limit=self.limit,
            shape=self.one_shape,
            labels=self.has_labels,
            classes=None if self.labels is None else class_count(self.labels),
            bad=len(self.bad),
        )


def stood_in(source: ArraySource) -> ArraySource:
    """Put the pixels and the label of its substitute in the place of every bad sample.

    Who stands in depends only on which samples are bad. The images are written to, not copied:
    this is for whoever has just made them.

    >>> images = torch.arange(4, dtype=torch.uint8)[:, None, None, None].clone()
    >>> stood_in(ArraySource("four", images, bad={2: "empty"})).images.flatten()
    tensor([0, 1, 3, 3], dtype=torch.uint8)
    """
    bad, count = source.bad, len(source)
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
