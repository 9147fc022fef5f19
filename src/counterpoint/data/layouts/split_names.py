"""Splits by the names of files and folders, as the Hugging Face Hub has them."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}
"""The words by which the Hub knows splits, in the names of files and of folders."""

NamesIn = Callable[[str], Sequence[str]]
"""List the files of a folder, given as "", "data/" or "data/train/"."""


def split_names(names_in: NamesIn) -> dict[str, tuple[str, ...]]:
    """Find the files of a folder, of its `data` folder and of folders named for splits.

    Files that name no split are for training.

    >>> split_names(lambda folder: [] if folder else ["a.tar", "val-000.tar"])
    {'train': ('a.tar',), 'validation': ('val-000.tar',)}
    """
    found: dict[str, list[str]] = {}
    for place in ("", "data/"):
        below = (f"{place}{word}/" for words in SPLITS.values() for word in words)
        for part in (place, *below):
            for name in names_in(part):
                found.setdefault(_split(name, alone=part == place), []).append(name)
        if found:
            break
    return {name: tuple(files) for name, files in found.items()}


def _split(name: str, *, alone: bool) -> str:
    """Read the split from the name of a file, or of the folder that it lies in.

    The first of its words that names a split decides.

    >>> _split("data/validation-00000-of-00002.parquet", alone=True)
    'validation'
    >>> _split("imagenet1k-validation-0000.tar", alone=True)
    'validation'
    """
    path = PurePosixPath(name)
    word = path.stem if alone else path.parent.name
    known = {one: split for split, words in SPLITS.items() for one in words}
    return next((known[one] for one in re.split(r"[^a-z]+", word.lower()) if one in known), "train")


def names_among(names: Sequence[str], suffixes: tuple[str, ...]) -> NamesIn:
    """List the files of one folder by their suffix, from all names below an address."""

    def names_in(folder: str) -> list[str]:
        own = (name for name in names if name.startswith(folder) and name.endswith(suffixes))
        return [name for name in own if "/" not in name[len(folder) :]]

    return names_in


def names_below(root: Path, suffixes: tuple[str, ...]) -> NamesIn:
    """List the files of one folder of this machine by their suffix."""

    def names_in(folder: str) -> list[str]:
        found = (root / folder).glob("*")
        own = (path.name for path in found if path.name.endswith(suffixes) and path.is_file())
        return sorted(f"{folder}{name}" for name in own if not name.startswith("."))

    return names_in
