"""A folder of tars in webdataset's layout, or one of them."""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from counterpoint.data.formats import SUFFIXES
from counterpoint.data.indexing import kept_index
from counterpoint.data.layouts.layout import Layout
from counterpoint.data.layouts.split_names import SPLITS, names_among, names_below, split_names
from counterpoint.data.shards.shard_source import ShardSource
from counterpoint.data.shards.tar_writer import index_name
from counterpoint.data.shards.webdataset import webdataset_shards
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import arranged
from counterpoint.data.stores.files import Files
from counterpoint.data.stores.local_files import LocalFiles

TARS = (".tar",)
COMPRESSED = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
UNFINISHED = ".parts/job.json"
"""What counterpoint shard has in its folder until it is done."""
FOLDERS = frozenset({"data", *(word for words in SPLITS.values() for word in words)})


def open_tars(
    files: Files, names: Mapping[str, tuple[str, ...]], indices: Collection[str], *, name: str
) -> Splits:
    """Open the tars of each split; `indices` are the files beside them that may be their index."""
    if "train" not in names:
        there = ", ".join(tar for some in names.values() for tar in some[:3])
        raise FileNotFoundError(f"data: needs tars to train on, train-*.tar; found {there}")
    parts = {split: _source(files, some, indices, name) for split, some in names.items()}
    return arranged(parts["train"], parts.get("validation"), parts.get("test"))


def _source(
    files: Files, tars: tuple[str, ...], indices: Collection[str], name: str
) -> ShardSource:
    beside = frozenset(tar for tar in tars if index_name(tar) in indices)
    store = webdataset_shards(files, tars, beside)
    if not int(store.counts.sum()):
        raise FileNotFoundError(
            f"data: no {', '.join(SUFFIXES)} members in {files.place}/{tars[0]}"
            f"{f' and {len(tars) - 1:,} more' if len(tars) > 1 else ''}"
        )
    classes = store.largest + 1 if store.has_labels else None
    return replace(ShardSource.of(name, store), label_count=classes)


def tars_among(names: list[str]) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """Find tars by split among all names below an address, and what may be their indices."""
    indices = frozenset(name for name in names if name.endswith(".idx"))
    return split_names(names_among(names, TARS)), indices


def tar_folder(place: Path) -> Splits:
    """Open a folder of tars."""
    names = split_names(names_below(place, TARS))
    if not names:
        refuse_compressed(place, _compressed(place))
    folders = {os.path.dirname(tar) for some in names.values() for tar in some}  # noqa: PTH120
    found = names_below(place, (".idx",))
    indices = {index for folder in folders for index in found(f"{folder}/" if folder else "")}
    return open_tars(LocalFiles(place), names, indices, name=place.resolve().name)


def tar_file(place: Path) -> Splits:
    """Open one tar."""
    own = place.parent / index_name(place.name)
    indices = {own.name} if own.is_file() else set()
    files = LocalFiles(place.parent)
    return open_tars(files, {"train": (place.name,)}, indices, name=place.stem)


def refuse_compressed(place: Path, names: list[str]) -> None:
    """Refuse tars that are compressed as a whole: no image of them can be read alone."""
    raise ValueError(
        f"data: {place / names[0]} is compressed, so that no image of it can be read alone; "
        f"decompress {'it' if len(names) == 1 else f'all {len(names):,}'}: gunzip *.tar.gz "
        "(JPEG does not become smaller by it)"
    )


def is_compressed_shard(name: str) -> bool:
    """Tell a compressed shard, which has a number, from any archive.

    >>> is_compressed_shard("train-000012.tar.gz"), is_compressed_shard("cifar-10-binary.tar.gz")
    (True, False)
    """
    return name.endswith(COMPRESSED) and re.search(r"\d{3}", name) is not None


def _compressed(place: Path) -> list[str]:
    names = split_names(names_below(place, COMPRESSED))
    return [name for some in names.values() for name in some if is_compressed_shard(name)]


def has_tars(place: Path) -> bool:
    """See whether a folder holds tars, and no images beside them.

    A folder of images in which an archive was left stays a folder of images: so does one of which
    any folder is not named for a split. The first image decides, so that a million cost nothing,
    and an index of them that is kept decides at once.
    """
    index = kept_index(place)
    if index is not None and len(index.files):
        return False
    if (place / UNFINISHED).is_file():
        raise ValueError(
            f"data: the shards in {place} are not finished; give the same counterpoint shard "
            "command again"
        )
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.name.lower().endswith(SUFFIXES):
                return False
            if entry.is_dir() and entry.name not in FOLDERS:
                return False
    names = split_names(names_below(place, TARS)) or _compressed(place)
    below = (path for path in place.iterdir() if path.is_dir() and path.name in FOLDERS)
    filled = all(_only_tars(path) for path in below)
    return bool(names) and filled


def _only_tars(folder: Path) -> bool:
    """See whether a folder named for a split has tars, and no folders of classes."""
    with os.scandir(folder) as entries:
        return not any(
            entry.name.lower().endswith(SUFFIXES)
            or (entry.is_dir() and entry.name not in FOLDERS and not entry.name.startswith("."))
            for entry in entries
        )


LAYOUT = Layout("tars (*.tar, as webdataset writes them)", has_tars, tar_folder)
