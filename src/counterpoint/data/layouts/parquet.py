"""Parquet files in the Hugging Face layout: images and labels as columns, splits by name."""

from pathlib import Path

import pyarrow as arrow
import torch
from torch import Tensor

from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.indexing import kept_index
from counterpoint.data.layouts.parquet_columns import Columns, columns_of
from counterpoint.data.layouts.split_names import names_below, split_names
from counterpoint.data.notes import one_line
from counterpoint.data.rows import Rows, read_column, read_metadata
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import arranged


def parquet_files(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Find the Parquet files of a folder by split."""
    names = split_names(lambda part: _parquet_in(folder, part))
    return {split: tuple(folder / name for name in some) for split, some in names.items()}


def _parquet_in(folder: Path, part: str) -> list[str]:
    """List Parquet files; a folder that is known to hold a million images is not read for it."""
    index = kept_index(folder / part)
    known = index is not None and not index.parquet
    return [] if known else [*names_below(folder, (".parquet",))(part)]


def file_columns(file: Path) -> Columns:
    """Find the image and the label of a file."""
    try:
        schema = read_metadata(file).schema.to_arrow_schema()
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"data: the schema of {file} cannot be read: {one_line(error)}") from error
    return columns_of(schema, file)


def parquet_rows(name: str, files: tuple[Path, ...]) -> EncodedSource:
    """Open Parquet files of one split; nothing is decoded, and no image is read yet."""
    columns = file_columns(files[0])
    counts = tuple(read_metadata(file).num_rows for file in files)
    rows = Rows(files, columns.image, counts)
    labels = None if columns.label is None else _read_labels(files, columns.label)
    if labels is not None and len(labels) != len(rows):
        raise ValueError(
            f"data: {files[0].parent} has {len(labels):,} labels and {len(rows):,} rows; "
            "download its Parquet files again"
        )
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
