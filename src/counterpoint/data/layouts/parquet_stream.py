"""Parquet files that are too many for memory: their row groups are read as they are needed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from counterpoint.data.layouts.parquet_columns import columns_of
from counterpoint.data.layouts.split_names import names_among, split_names
from counterpoint.data.notes import one_line
from counterpoint.data.rows import said_bytes
from counterpoint.data.shards.row_group_footer import DAMAGED, read_footer
from counterpoint.data.shards.row_group_listing import LeafPaths, list_groups
from counterpoint.data.shards.row_groups import RowGroups
from counterpoint.data.shards.shard_source import ShardSource
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import arranged
from counterpoint.data.stores.files import Files

ENCODED = 2 << 30
"""Bytes of Parquet files that are held in memory; above, they stream. It is a property of the data
and of no machine: splits of streams are others, and training must not see what is scored later."""


def streams(files: Mapping[str, tuple[Path, ...]], image: str) -> bool:
    """See whether all files, or their images by their footers, are above the bound."""
    every = [file for some in files.values() for file in some]
    total = 0
    for file in every:
        total += file.stat().st_size
        if total > ENCODED:
            return True
    return sum(said_bytes(file, image) for file in every) > ENCODED


def stream_parquet(files: Files, names: Mapping[str, tuple[str, ...]], *, name: str) -> Splits:
    """Open the Parquet files of each split as shards; only their footers are read.

    At an address small ones stream too, and have the splits that they have on a disk.
    """
    if "train" not in names:
        there = ", ".join(file for some in names.values() for file in some[:3])
        raise FileNotFoundError(f"data: needs Parquet files to train on, train-*; found {there}")
    opened = {split: _opened(files, some) for split, some in names.items()}
    listings = [one.listing for one in opened.values()]
    held = max(sum(one.file_bytes for one in listings), sum(one.image_bytes for one in listings))
    parts = {split: _source(one, name) for split, one in opened.items()}
    given = (parts["train"], parts.get("validation"), parts.get("test"))
    return arranged(*given, by_shard=held > ENCODED)


def _opened(files: Files, names: tuple[str, ...]) -> RowGroups:
    first = f"{files.place}/{names[0]}"
    try:
        schema = read_footer(files, names[0]).found.schema.to_arrow_schema()
    except DAMAGED as error:
        raise ValueError(
            f"data: the schema of {first} cannot be read: {one_line(error)}"
        ) from error
    columns = columns_of(schema, first)
    listing = list_groups(files, names, LeafPaths(columns.leaf, columns.label))
    classes = columns.classes if listing.has_labels else None
    if not int(listing.rows.sum()):
        raise FileNotFoundError(f"data: there are no rows in {first}")
    return RowGroups(files, names, LeafPaths(columns.leaf, columns.label), listing, classes)


def _source(store: RowGroups, name: str) -> ShardSource:
    listing = store.listing
    count = listing.largest + 1 if listing.has_labels and listing.largest >= 0 else None
    return replace(ShardSource.of(name, store), label_count=count)


def parquet_among(names: list[str]) -> dict[str, tuple[str, ...]]:
    """Find Parquet files by split among all names below an address."""
    return split_names(names_among(names, (".parquet",)))
