"""What is there, what is broken, and what is there twice."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterpoint.data import Source, Splits
from counterpoint.data.packed_names import shown
from counterpoint.data.quarantine import Kind
from counterpoint.doctor.duplicates import near, same
from counterpoint.doctor.inspection import MOST, Look, look_at

LEVELS = (0, 5, 50, 95, 100)  # percent
COLOURS = {"RGB": "colour", "L": "grey", "1": "black and white", "P": "palette", "CMYK": "CMYK"}


@dataclass(frozen=True, slots=True)
class Found:
    """One image: its split, its name, and what was seen."""

    split: str
    name: str
    look: Look


@dataclass(frozen=True, slots=True)
class Examination:
    """All images of a data set.

    >>> from counterpoint.data import open_data
    >>> seen = examined(open_data(photos_folder), photos_folder)
    >>> seen.formats(), seen.broken
    (Counter({'PNG': 24}), [])
    """

    data: str
    """The one line that says what it is."""
    images: tuple[Found, ...]
    shut: tuple[str, ...]
    """Folders that may not be read."""
    copies: tuple[tuple[int, ...], ...]
    """Groups of places of images that are equal byte by byte."""
    alike: tuple[tuple[int, ...], ...]
    """Groups of places of images that look alike and are not all equal."""
    partial: str = ""
    """The splits of which only drawn images were looked at, in words."""

    @property
    def sound(self) -> list[Look]:
        return [found.look for found in self.images if found.look.broken is None]

    @property
    def broken(self) -> list[tuple[str, Kind]]:
        """Return name and kind of everything that cannot be read."""
        looks = ((found.name, found.look.broken) for found in self.images)
        return [(name, kind) for name, kind in looks if kind is not None]

    def formats(self) -> Counter[str]:
        return Counter(look.form for look in self.sound)

    def colours(self) -> Counter[str]:
        return Counter(COLOURS.get(look.mode, look.mode) for look in self.sound)

    def sizes(self) -> dict[str, list[int]]:
        """Return percentiles of the sides, in pixels, and of the files, in bytes."""
        sides = [sorted((look.width, look.height)) for look in self.sound]
        columns = {
            "short side": [short for short, _ in sides],
            "long side": [long for _, long in sides],
            "bytes": [look.length for look in self.sound],
        }
        return {name: _levels(column) for name, column in columns.items() if column}

    def across(self, groups: Sequence[Sequence[int]]) -> int:
        """Count the groups that are in more than one split: training saw what is scored."""
        return sum(len({self.images[place].split for place in group}) > 1 for group in groups)


def _levels(column: list[int]) -> list[int]:
    return [int(level) for level in np.percentile(column, LEVELS, method="nearest")]


def examined(splits: Splits, place: Path, *, most: int = MOST) -> Examination:
    """Look at every image of every split, or at `most` drawn images of one that has more.

    >>> from counterpoint.data import open_data
    >>> seen = examined(open_data(photos_folder), photos_folder)
    >>> len(seen.images), len(seen.copies)  # two files are there twice
    (24, 2)
    """
    parts = {
        "train": splits.train,
        "labelled": splits.labelled,
        "validation": splits.validation,
        "test": splits.test,
    }
    images = [
        Found(split, _name(part, look.sample, split, place), look)
        for split, part in parts.items()
        if part is not None and len(part)
        for look in look_at(part, f"looking at {_many(part, most)} ({split})", most=most)
    ]
    sound = [n for n, found in enumerate(images) if found.look.broken is None]
    copies = _at(sound, same([images[n].look.digest for n in sound]))
    likeness = np.array([images[n].look.likeness for n in sound], dtype=np.int64)
    equal = {n: number for number, group in enumerate(copies) for n in group}
    alike = tuple(
        group
        for group in _at(sound, near(likeness))
        if len({equal.get(n, -1 - n) for n in group}) > 1
    )
    more = [part for part in parts.values() if part is not None and len(part) > most]
    return Examination(
        repr(splits),
        tuple(images),
        tuple(splits.train.describe()["shut"]),
        copies,
        alike,
        "; ".join(f"{part.name}: {_many(part, most)}" for part in more),
    )


def _many(part: Source, most: int) -> str:
    count = len(part)
    return f"{count:,} images" if count <= most else f"{most:,} drawn of {count:,} images"


def _at(places: list[int], groups: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(places[n] for n in group) for group in groups)


def _name(part: Source, sample: int, split: str, place: Path) -> str:
    """Name an image: by its path below the data's folder, or by its number."""
    if (found := part.path(sample)) is None:
        return f"{split} {sample}"
    path = Path(found)
    below = path.relative_to(place) if path.is_relative_to(place) else path
    return shown(os.fsencode(below))
