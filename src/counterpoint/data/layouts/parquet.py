"""Parquet files in the Hugging Face layout: images and labels as columns, splits by name."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as arrow
import torch
from torch import Tensor

from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.indexing import kept_index
from counterpoint.data.notes import say_once
from counterpoint.data.rows import Rows, read_column, read_metadata
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import arranged

SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval"),
}
"""The words by which the Hub knows splits, in the names of files and of folders."""

IMAGES = ("image", "img")
LABELS = ("label", "labels", "fine_label")


def parquet_files(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Find the Parquet files of a folder, of its `data` folder and of folders named for splits.

    EncodedSource that name no split are for training.
    """
    found: dict[str, list[Path]] = {}
    for place in (folder, folder / "data"):
        below = (place / word for words in SPLITS.values() for word in words)
        files = [file for part in (place, *below) for file in _parquet_in(part)]
        for file in files:
            found.setdefault(_split(file, place), []).append(file)
        if found:
            break
    return {name: tuple(files) for name, files in found.items()}


def _parquet_in(place: Path) -> list[Path]:
    """List Parquet files; a folder that is known to hold a million images is not read for it."""
    index = kept_index(place)
    known = index is not None and not index.parquet
    return [] if known else sorted(place.glob("*.parquet"))


def _split(file: Path, place: Path) -> str:
    """Read the split from a name.

    >>> _split(Path("data/validation-00000-of-00002.parquet"), Path("data"))
    'validation'
    """
    word = file.stem if file.parent == place else file.parent.name
    first = re.split(r"[^a-z]", word.lower())[0]
    return next((split for split, words in SPLITS.items() if first in words), "train")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that matter."""

    image: str
    label: str | None
    classes: tuple[str, ...] | None


def columns_of(file: Path) -> Columns:
    """Find the image and the label, by what the Hub writes into a file or by their types."""
    schema = read_metadata(file).schema.to_arrow_schema()
    said = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
    features: dict[str, Any] = said.get("info", {}).get("features", {})
    images = [n for n, f in features.items() if f.get("_type") == "Image"]
    images = images or [field.name for field in schema if _holds_bytes(field.type)]
    if not images:
        there = ", ".join(f"{field.name}: {field.type}" for field in schema)
        raise ValueError(
            f"data: no images in {file}; needs a column of bytes or of {{bytes, path}}, "
            f"found {there}"
        )
    named = [n for n, f in features.items() if f.get("_type") == "ClassLabel"]
    whole = [field.name for field in schema if arrow.types.is_integer(field.type)]
    label = _preferred(LABELS, named) or next((n for n in LABELS if n in whole), None)
    classes = features.get(label or "", {}).get("names")
    image = _preferred(IMAGES, images) or images[0]
    if said := _left_out(image, images, label, named if label else [*named, *whole]):
        say_once(f"{file}: {said}")
    return Columns(image, label, None if classes is None else tuple(classes))


def _left_out(image: str, images: Sequence[str], label: str | None, labels: Sequence[str]) -> str:
    """Say which columns could have been meant and were not taken.

    >>> _left_out("image", ["image", "depth"], None, ["target"])
    'images are column image, not depth; no labels: column target is not taken, call it label'
    """
    parts = []
    if others := [name for name in images if name != image]:
        parts.append(f"images are column {image}, not {', '.join(others)}")
    others = [name for name in dict.fromkeys(labels) if name != label]
    if others and label is None:
        one = len(others) == 1
        columns = f"column {others[0]} is" if one else f"columns {', '.join(others)} are"
        parts.append(f"no labels: {columns} not taken, call {'it' if one else 'one'} label")
    elif others:
        parts.append(f"labels are column {label}, not {', '.join(others)}")
    return "; ".join(parts)


def _preferred(names: Sequence[str], found: Sequence[str]) -> str | None:
    """Return the first name that is there, or the first that is there at all."""
    return next((name for name in names if name in found), found[0] if found else None)


def _holds_bytes(kind: Any) -> bool:
    if arrow.types.is_struct(kind):
        return any(kind[n].name == "bytes" for n in range(kind.num_fields))
    return bool(arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind))


def parquet_rows(name: str, files: tuple[Path, ...]) -> EncodedSource:
    """Open Parquet files of one split; nothing is decoded, and no image is read yet."""
    columns = columns_of(files[0])
    counts = tuple(read_metadata(file).num_rows for file in files)
    rows = Rows(files, columns.image, counts)
    labels = None if columns.label is None else _read_labels(files, columns.label)
    every = torch.arange(len(rows))
    return EncodedSource(name, rows, every, labels, None if labels is None else columns.classes)


def parquet_splits(name: str, files: dict[str, tuple[Path, ...]]) -> Splits:
    """Arrange the splits of Parquet files; nothing is decoded yet."""
    if "train" not in files:
        there = ", ".join(file.name for some in files.values() for file in some)
        raise FileNotFoundError(f"data: needs Parquet files to train on, train-*; found {there}")
    parts = {split: parquet_rows(name, some) for split, some in files.items()}
    return arranged(parts["train"], parts.get("validation"), parts.get("test"))


def _read_labels(files: tuple[Path, ...], column: str) -> Tensor | None:
    """Read the labels; where one is missing or below 0, as the Hub has it, there are none."""
    found = read_column(files, column)
    if found.null_count:
        return None
    labels = torch.from_numpy(found.to_numpy().astype("int64"))
    return None if len(labels) and int(labels.min()) < 0 else labels
