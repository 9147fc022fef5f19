"""What is trained on, what is chosen by, and what is scored."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from counterpoint.data.source import Source


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """What training sees, what choices are made on, and what is scored once at the end.

    >>> import torch
    >>> from counterpoint.data.array_source import ArraySource
    >>> images = ArraySource("noise", torch.zeros(9, 3, 8, 8, dtype=torch.uint8))
    >>> [len(part) for part in (Splits(images, images, images).head(4).train, images)]
    [4, 9]
    """

    train: Source
    validation: Source
    test: Source
    labelled: Source | None = None
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
            self.train.first(count),
            self.validation.first(count),
            self.test.first(count),
            None if self.labelled is None else self.labelled.first(count),
        )

    def for_probes(self) -> "Splits":
        """Return the splits that probes work on: the labelled images take the place of `train`."""
        return self if self.labelled is None else replace(self, train=self.labelled, labelled=None)

    def marked(self, bad: Collection[int]) -> "Splits":
        """Note samples of the training split that are known to be bad."""
        if outside := sorted(sample for sample in bad if not 0 <= sample < len(self.train)):
            raise ValueError(
                f"data: got sample {outside[0]} as known to be bad, but {self.train!r}; "
                "needs numbers of these images: was the data changed since they were noted?"
            )
        return replace(self, train=self.train.marked(bad)) if bad else self
