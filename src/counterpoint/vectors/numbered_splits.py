"""Every image of a data set under one number, over all splits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from counterpoint.data import Source, Splits

PIECE = 100  # pictures that are read at a time: 15 MB at 224 pixels
IMAGES = 500  # that are in memory already
LEAST, MOST = 1_000, 100_000  # images in a part; our choice
PARTS = 1_000  # are few enough to list; with more images, parts are longer first


class Piece(NamedTuple):
    """Images of one split that are read and encoded together."""

    part: int
    split: int
    """Its place among the splits."""
    first: int
    end: int
    """Numbers in the split; the last is one less than the end."""


@dataclass(frozen=True, slots=True, eq=False)
class NumberedSplits:
    """The splits of a data set in the order train, validation, test; then those only for labels.

    >>> import torch
    >>> from counterpoint.data import as_splits
    >>> labels = torch.arange(30) % 3
    >>> from counterpoint.data import ArraySource
    >>> images = torch.zeros(30, 3, 8, 8, dtype=torch.uint8)
    >>> numbers = NumberedSplits.of(as_splits(ArraySource("some", images, labels)))
    >>> numbers.counts, numbers.start(2)
    ({'train': 24, 'validation': 3, 'test': 3}, 27)
    >>> list(numbers.pieces(1, size=26))
    [Piece(part=1, split=1, first=2, end=3), Piece(part=1, split=2, first=0, end=3)]
    """

    names: tuple[str, ...]
    sources: tuple[Source, ...]

    @classmethod
    def of(cls, splits: Splits) -> "NumberedSplits":
        named = {"train": splits.train, "validation": splits.validation, "test": splits.test}
        if splits.labelled is not None:
            named["labelled"] = splits.labelled
        return cls(tuple(named), tuple(named.values()))

    def __len__(self) -> int:
        return sum(map(len, self.sources))

    @property
    def counts(self) -> dict[str, int]:
        """How many images each split has."""
        return {name: len(s) for name, s in zip(self.names, self.sources, strict=True)}

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the labels, where they are known."""
        return next((s.classes for s in self.sources if s.classes is not None), None)

    def start(self, split: int) -> int:
        """Return the number of the first image of a split."""
        return sum(len(source) for source in self.sources[:split])

    def place(self, sample: int) -> tuple[Source, int]:
        """Return the split of a sample, and its number there."""
        for source in self.sources:
            if sample < len(source):
                return source, sample
            sample -= len(source)
        raise ValueError(f"vectors: got sample {sample + len(self)}, there are {len(self):,}")

    def pieces(self, part: int, *, size: int) -> Iterator[Piece]:
        """Cut a part into what is read together; parts begin anew, whoever makes them."""
        begin, end = part * size, min(len(self), (part + 1) * size)
        for split, source in enumerate(self.sources):
            start = self.start(split)
            first, last = max(begin, start) - start, min(end - start, len(source))
            step = PIECE if source.decodes else IMAGES
            for place in range(first, last, step):
                yield Piece(part, split, place, min(place + step, last))


def usual_part_size(count: int) -> int:
    """Choose how many images a part has: so few that little is lost with one.

    >>> usual_part_size(1_490), usual_part_size(5_000_000), usual_part_size(5_000_000_000)
    (1000, 5000, 100000)
    """
    return min(MOST, max(LEAST, -(-count // PARTS)))
