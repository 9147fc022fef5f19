"""What a source says of itself: plain data for a record, and one line for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from counterpoint.data.formats import HEIC_SUFFIXES, INSTALL

WORDS = {
    "memory": ("images", "classes"),
    "files": ("image files", "folders"),
    "parquet": ("image files in Parquet", "classes"),
    "dataset": ("dataset items", "classes"),
    "shards": ("images in shards", "classes"),
    "webdataset": ("images in tars", "classes"),
    "row groups": ("images in Parquet", "classes"),
}
"""By kind of source: what its samples are called, and what their labels are."""
NAMED = 6  # suffixes of files that are not opened, and are named


def source_record(
    kind: str,
    name: str,
    count: int,
    *,
    limit: int | None = None,
    shape: Sequence[int] | None = None,
    labels: bool = False,
    classes: int | None = None,
    bad: int = 0,
    unopened: Mapping[str, int] | None = None,
    shut: Sequence[str] = (),
) -> dict[str, Any]:
    """Describe images as plain data, which JSON can hold.

    `limit` is how many were asked for (`--limit`), `shape` that of all images where they share
    one, `classes` the number of labels where it is known, `bad` how many samples are known to be
    unreadable. `unopened` counts files beside the images by their suffix; `shut` lists folders
    that may not be read.
    """
    return {
        "kind": kind,
        "name": name,
        "count": count,
        "limit": limit,
        "shape": None if shape is None else list(shape),
        "labels": labels,
        "classes": classes,
        "bad": bad,
        "unopened": dict(unopened or {}),
        "shut": list(shut),
    }


def description_line(record: Mapping[str, Any]) -> str:
    """Write a description as one line.

    >>> description_line(source_record("memory", "noise", 5, shape=(3, 8, 8)))
    'noise: 5 images, 3 x 8 x 8, no labels'
    >>> description_line(source_record("files", "photos", 1200, labels=True, classes=20, bad=3))
    'photos: 1,200 image files, 20 folders, 3 of them bad'
    """
    what, kinds = WORDS[record["kind"]]
    beside = unopened_words(record["unopened"])
    parts = [f"{record['count']:,} {what}{beside and f' ({beside})'}"]
    if record["shape"] is not None:
        parts.append(" x ".join(map(str, record["shape"])))
    if not record["labels"]:
        parts.append("no labels")
    else:
        parts.append("labels" if record["classes"] is None else f"{record['classes']} {kinds}")
    if record["bad"]:
        parts.append(f"{record['bad']:,} of them bad")
    return f"{record['name']}: {', '.join(parts)}"


def unopened_words(kinds: Mapping[str, int]) -> str:
    """Say how many files are not opened; nothing where there are none.

    >>> unopened_words({".heic": 3, ".txt": 1})
    "4 files not opened: .heic 3, .txt 1; pip install 'counterpoint[heic]' reads the 3 HEIC"
    """
    if not (count := sum(kinds.values())):
        return ""
    some = ", ".join(f"{suffix} {number:,}" for suffix, number in [*kinds.items()][:NAMED])
    more = ", ..." if len(kinds) > NAMED else ""
    photos = sum(number for suffix, number in kinds.items() if suffix in HEIC_SUFFIXES)
    hint = f"; {INSTALL} reads the {photos:,} HEIC" if photos else ""
    return f"{count:,} {'file' if count == 1 else 'files'} not opened: {some}{more}{hint}"
