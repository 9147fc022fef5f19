"""A folder of Parquet files; CIFAR-10 is recognised by the names of its classes."""

from pathlib import Path

from counterpoint.data.layouts.cifar10 import CLASSES, cifar10_rows
from counterpoint.data.layouts.layout import Layout
from counterpoint.data.layouts.parquet import columns_of, parquet_files, parquet_splits
from counterpoint.data.splits import Splits


def open_parquet(place: Path, files: dict[str, tuple[Path, ...]], *, name: str = "") -> Splits:
    """Open the Parquet files of each split."""
    some = next(iter(files.values()))
    if {"train", "test"} == files.keys() and columns_of(some[0]).classes == CLASSES:
        return cifar10_rows(place)
    return parquet_splits(name or place.resolve().name, files)


LAYOUT = Layout(
    "Parquet files (*.parquet, data/*.parquet)",
    lambda place: bool(parquet_files(place)),
    lambda place: open_parquet(place, parquet_files(place)),
)
