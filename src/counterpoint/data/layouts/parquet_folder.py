"""A folder of Parquet files; CIFAR-10 is recognised by the names of its classes."""

import os
from pathlib import Path

from counterpoint.data.formats import SUFFIXES
from counterpoint.data.layouts.cifar10 import CLASSES, cifar10_rows
from counterpoint.data.layouts.layout import Layout
from counterpoint.data.layouts.parquet import file_columns, parquet_files, parquet_splits
from counterpoint.data.layouts.parquet_columns import NoImagesError
from counterpoint.data.layouts.parquet_stream import stream_parquet, streams
from counterpoint.data.splits import Splits
from counterpoint.data.stores.local_files import LocalFiles


def open_parquet(place: Path, files: dict[str, tuple[Path, ...]], *, name: str = "") -> Splits:
    """Open the Parquet files of each split."""
    name = name or place.resolve().name
    if "train" not in files:
        return parquet_splits(name, files)  # which says what is needed
    columns = file_columns(files["train"][0])
    if {"train", "test"} == files.keys() and columns.classes == CLASSES:
        return cifar10_rows(place)
    if not streams(files, columns.image):
        return parquet_splits(name, files)
    names = {
        split: tuple(file.relative_to(place).as_posix() for file in some)
        for split, some in files.items()
    }
    return stream_parquet(LocalFiles(place), names, name=name)


def _holds_images(place: Path) -> bool:
    """See whether there are Parquet files of images; a table beside image files describes them."""
    files = parquet_files(place)
    if not files:
        return False
    for file in (one for some in files.values() for one in some):
        try:
            file_columns(file)
        except NoImagesError:
            continue
        except ValueError:
            return True  # a damaged file is named when it is opened
        return True
    return not _has_image_files(place)


def _has_image_files(place: Path) -> bool:
    names = (name for _, _, found in os.walk(place) for name in found)
    return any(name.lower().endswith(SUFFIXES) for name in names)


LAYOUT = Layout(
    "Parquet files (*.parquet, data/*.parquet)",
    _holds_images,
    lambda place: open_parquet(place, parquet_files(place)),
)
