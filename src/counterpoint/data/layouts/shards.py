"""Shards with a manifest, as `counterpoint shard` writes them."""

import hashlib
from pathlib import Path

import torch

from counterpoint.data.layouts.layout import Layout
from counterpoint.data.shards.shard_manifest import (
    KIND,
    MANIFEST,
    SPLIT_NAMES,
    DamagedShardsError,
    ShardManifest,
    read_shard_manifest,
)
from counterpoint.data.shards.shard_source import ShardSource
from counterpoint.data.shards.shard_table import TABLE, ShardTable, read_shard_table
from counterpoint.data.shards.shard_window import ShardWindow
from counterpoint.data.shards.tar_shards import TarShards
from counterpoint.data.source import Source
from counterpoint.data.splits import Splits
from counterpoint.data.stores.files import Files
from counterpoint.data.stores.local_files import LocalFiles

CHUNK = 1 << 22  # bytes of the table that are hashed at a time


def open_shards(files: Files) -> Splits:
    """Open the splits of shards; only manifest and table are read."""
    manifest, stores = _opened(files)
    parts: dict[str, Source] = {}
    for store in stores:
        split = manifest.splits[store.split]
        parts[store.split] = ShardSource(
            split.name,
            store,
            ShardWindow.whole(store.counts),
            split.shape,
            label_count=split.label_count,
        )
    train = parts["train"]
    none = torch.arange(0)
    return Splits(
        train,
        parts.get("validation") or train.subset("validation", none),
        parts.get("test") or train.subset("test", none),
        parts.get("labelled"),
    )


def shard_stores(files: Files) -> list[TarShards]:
    """Open the shards of each split, in the order of the table."""
    return _opened(files)[1]


def _opened(files: Files) -> tuple[ShardManifest, list[TarShards]]:
    try:
        manifest, known = read_shard_manifest(files)
    except DamagedShardsError as error:
        raise ValueError(f"data: {files.place}/{MANIFEST}: {error}; needs the whole one") from error
    try:
        table = _table(files, manifest)
    except DamagedShardsError as error:
        raise ValueError(
            f"data: {files.place}/{TABLE}: {error}; needs the table that the manifest is of: "
            "copy the shards again"
        ) from error
    stores, start = [], 0
    for name, split in manifest.splits.items():
        own = table.some(start, start + split.shards)
        start += split.shards
        classes = manifest.classes if split.labels else None
        stores.append(TarShards(files, own, name, split.labels, classes, known))
    return manifest, stores


def _table(files: Files, manifest: ShardManifest) -> ShardTable:
    """Read the table, and check that the manifest is of it."""
    digest, size = hashlib.sha256(), files.size(TABLE)
    for start in range(0, size, CHUNK):
        digest.update(files.read(TABLE, start, min(CHUNK, size - start)))
    if digest.hexdigest() != manifest.table:
        raise DamagedShardsError("its checksum is not the manifest's")
    table = read_shard_table(files)
    start = 0
    for name, split in manifest.splits.items():
        stop = start + split.shards
        own = table.some(start, stop)
        other = bool((own.splits != SPLIT_NAMES.index(name)).any())
        if other or int(own.counts.sum()) != split.count:
            raise DamagedShardsError(f"its shards of {name} are not those of the manifest")
        start = stop
    if start != len(table):
        raise DamagedShardsError(f"it has {len(table):,} shards, and the manifest {start:,}")
    return table


def _fits(place: Path) -> bool:
    """See whether a folder has a manifest of ours: by its beginning, it may be large."""
    try:
        with (place / MANIFEST).open("rb") as file:
            return KIND.encode() in file.read(256)
    except OSError:
        return False


LAYOUT = Layout(
    f"shards ({MANIFEST} and {TABLE})", _fits, lambda place: open_shards(LocalFiles(place))
)
