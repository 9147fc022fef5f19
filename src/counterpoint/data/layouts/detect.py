"""One call opens any layout."""

from collections.abc import Collection
from importlib import import_module
from pathlib import Path

from counterpoint.data.decoding import in_memory
from counterpoint.data.layouts.addresses import open_address
from counterpoint.data.layouts.arrays import array_file
from counterpoint.data.layouts.image_folder import image_files
from counterpoint.data.layouts.layout import Layout
from counterpoint.data.layouts.parquet_folder import open_parquet
from counterpoint.data.layouts.tars import is_compressed_shard, refuse_compressed, tar_file
from counterpoint.data.location import data_place
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import tenths

ARRAYS = (".npy", ".npz")
LAYOUTS = ("shards", "cifar10", "stl10", "tars", "parquet_folder", "imagenet")
"""In the order that they are tried: `LAYOUT` of layouts/NAME.py. Any other folder is of images."""


def open_data(
    place: str | Path, *, limit: int | None = None, known_bad: Collection[int] = ()
) -> Splits:
    """Open a data set by its folder, file or address, whatever its layout; docs/data.md lists them.

    `limit` takes only the first images of each split. `known_bad` are numbers of training
    images that are known to be unreadable: they are not decoded, others stand in for them.

    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> with TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/grey.npy", np.zeros((20, 8, 8), np.uint8))
    ...     open_data(f"{folder}/grey.npy").train
    grey train: 20 images, 3 x 8 x 8, no labels
    """
    splits = in_memory(open_encoded(place).marked(known_bad))
    return splits if limit is None else splits.head(limit)


def open_encoded(place: str | Path) -> Splits:
    """Open a data set as it is stored: nothing is decoded, where `open_data` would keep pixels."""
    where = data_place(place)
    return open_address(where) if isinstance(where, str) else _found(where)


def _layouts() -> list[Layout]:
    return [import_module(f"counterpoint.data.layouts.{name}").LAYOUT for name in LAYOUTS]


def _found(place: Path) -> Splits:
    """Find the layout and open it."""
    if place.is_file():
        return _file(place)
    if not place.is_dir():
        raise FileNotFoundError(f"data: there is no folder {place}")
    for layout in _layouts():
        for folder in (place, place / layout.below) if layout.below else (place,):
            if layout.fits(folder):
                return layout.open(folder)
    _refuse_pickles(place)
    try:
        return tenths(image_files(place))
    except FileNotFoundError as error:
        there = sorted(path.name for path in place.iterdir())
        looked = "; ".join(layout.looks_like for layout in _layouts())
        more = ", ..." if len(there) > 9 else ""
        raise FileNotFoundError(
            f"{error}; looked also for {looked}; found {', '.join(there[:9]) or 'nothing'}{more}"
        ) from None


def _file(place: Path) -> Splits:
    if place.suffix in ARRAYS:
        return tenths(array_file(place))
    if place.suffix == ".parquet":
        return open_parquet(place.parent, {"train": (place,)}, name=place.stem)
    if place.suffix == ".tar":
        return tar_file(place)
    if is_compressed_shard(place.name):
        refuse_compressed(place.parent, [place.name])
    kinds = ", ".join((*ARRAYS, ".parquet", ".tar"))
    raise ValueError(f"data: got the file {place}, needs a folder or one of {kinds}")


def _refuse_pickles(place: Path) -> None:
    """Refuse CIFAR-10's Python files: opening a pickle runs whatever code is in it."""
    for folder in (place, place / "cifar-10-batches-py"):
        if (folder / "data_batch_1").is_file():
            raise ValueError(
                f"data: {folder} holds CIFAR-10 as Python pickles, which can run any code and "
                "are never opened; needs the binary version (cifar-10-binary.tar.gz, folder "
                "cifar-10-batches-bin) or Parquet files"
            )
