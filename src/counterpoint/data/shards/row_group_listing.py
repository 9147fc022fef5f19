"""How many rows each row group of Parquet files has: read once from their footers, and kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.rows import uncompressed_bytes
from counterpoint.data.shards.kept_listing import FileListing, kept_listing
from counterpoint.data.shards.row_group_footer import Footer, read_footer
from counterpoint.data.shards.thread_map import thread_map
from counterpoint.data.stores.files import Files

MOST_ROWS = 1 << 22  # of a row group: in a file a row may take no byte, in memory it takes eight
FORM = "row groups 2"


class LeafPaths(NamedTuple):
    """The columns of a file, each by its path in the schema."""

    image: str
    label: str | None


@dataclass(frozen=True, slots=True, eq=False)
class GroupListing:
    """The row groups of all files, file after file."""

    rows: Int64[Tensor, " group"]
    groups: Int64[Tensor, " file"]
    """How many row groups each file has."""
    has_labels: bool
    largest: int
    """The largest label, as far as the files say; -1 where none does."""
    file_bytes: int
    image_bytes: int
    """Bytes of all images, by the files' own word."""


class _Found(NamedTuple):
    file_bytes: int
    image_bytes: int
    rows: list[int]
    lowest: int
    largest: int


def list_groups(files: Files, names: Sequence[str], leaves: LeafPaths) -> GroupListing:
    """Read the footers of files, or what is kept of them while no file has changed.

    Labels count as there where no row group has a missing or negative one by its statistics; a row
    group without statistics is believed until it is read.
    """
    form = f"{FORM} {leaves}"
    found = kept_listing(files, names, form, lambda _: _read(files, names, leaves))
    rows, groups = found.tensors["rows"], found.tensors["groups"]
    return GroupListing(rows, groups, **found.words)


def _read(files: Files, names: Sequence[str], leaves: LeafPaths) -> FileListing:
    what = f"reading the footers of {len(names):,} Parquet files"
    found = list(
        thread_map(lambda name: _of_file(read_footer(files, name), leaves, files), names, what)
    )
    rows = [count for one in found for count in one.rows]
    return FileListing(
        {
            "rows": torch.tensor(rows, dtype=torch.int64),
            "groups": torch.tensor([len(one.rows) for one in found], dtype=torch.int64),
        },
        {
            "has_labels": leaves.label is not None and all(one.lowest >= 0 for one in found),
            "largest": max((one.largest for one in found), default=-1),
            "file_bytes": sum(one.file_bytes for one in found),
            "image_bytes": sum(one.image_bytes for one in found),
        },
    )


def _of_file(footer: Footer, leaves: LeafPaths, files: Files) -> _Found:
    """Take the row counts of a file, and between what its labels lie."""
    missing = [leaf for leaf in leaves if leaf is not None and footer.leaf(leaf) is None]
    if missing:
        raise ValueError(
            f"data: {files.place}/{footer.name} has no column {missing[0]}, which other files "
            "have; needs the same columns in all"
        )
    label = None if leaves.label is None else footer.leaf(leaves.label)
    rows: list[int] = []
    lowest, largest = 0, -1
    for number in range(footer.found.num_row_groups):
        group = footer.found.row_group(number)
        if not 0 <= group.num_rows <= MOST_ROWS:
            raise ValueError(
                f"data: row group {number} of {files.place}/{footer.name} says that it has "
                f"{group.num_rows:,} rows, needs {MOST_ROWS:,} at most; write the file again with "
                "smaller row groups"
            )
        rows.append(group.num_rows)
        if label is not None:
            low, high = _between(group.column(label).statistics)
            lowest, largest = min(lowest, low), max(largest, high)
    images = uncompressed_bytes(footer.found, leaves.image.split(".")[0])
    return _Found(footer.size, images, rows, lowest, largest)


def _between(said: object) -> tuple[int, int]:
    """Return the lowest and the largest label of a row group; one that is missing counts as -1."""
    if said is None:
        return 0, -1
    if getattr(said, "has_null_count", False) and getattr(said, "null_count", 0):
        return -1, -1
    low, high = getattr(said, "min", None), getattr(said, "max", None)
    return (low, high) if isinstance(low, int) and isinstance(high, int) else (0, -1)
