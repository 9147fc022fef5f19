"""One call opens any layout."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from counterpoint.data.decoding import in_memory
from counterpoint.data.layouts.arrays import array_file
from counterpoint.data.layouts.cifar10 import BATCHES, CLASSES, cifar10, cifar10_rows
from counterpoint.data.layouts.image_folder import image_files
from counterpoint.data.layouts.imagenet import has_split_folders, imagenet
from counterpoint.data.layouts.parquet import columns_of, parquet_files, parquet_splits
from counterpoint.data.layouts.stl10 import UNLABELLED, stl10
from counterpoint.data.location import local
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import tenths

ARRAYS = (".npy", ".npz")


def open_data(
    place: str | Path, *, limit: int | None = None, known_bad: Collection[int] = ()
) -> Splits:
    """Open a data set by its folder or file, whatever its layout; docs/data.md lists them.

    `limit` takes only the first images of each split. `known_bad` are numbers of training
    images that are known to be unreadable: they are not decoded, others stand in for them.
    """
    splits = in_memory(_found(local(place, what="data")).marked(known_bad))
    return splits if limit is None else splits.head(limit)


@dataclass(frozen=True, slots=True)
class Layout:
    """A way in which images lie in a folder: how it is known, and how it is opened."""

    looks_like: str
    fits: Callable[[Path], bool]
    open: Callable[[Path], Splits]
    below: str | None = None
    """The official name of the folder, which may lie one level below."""


LAYOUTS = (
    Layout(
        f"CIFAR-10's binary files ({BATCHES[0]})",
        lambda place: (place / BATCHES[0]).is_file(),
        cifar10,
        "cifar-10-batches-bin",
    ),
    Layout(
        f"STL-10's binary files ({UNLABELLED})",
        lambda place: (place / UNLABELLED).is_file() or (place / "train_X.bin").is_file(),
        stl10,
        "stl10_binary",
    ),
    Layout(
        "Parquet files (*.parquet, data/*.parquet)",
        lambda place: bool(parquet_files(place)),
        lambda place: _parquet(place, parquet_files(place)),
    ),
    Layout("split folders (train and val)", has_split_folders, imagenet),
)


def _found(place: Path) -> Splits:
    """Find the layout and open it."""
    if place.is_file():
        return _file(place)
    if not place.is_dir():
        raise FileNotFoundError(f"data: there is no folder {place}")
    for layout in LAYOUTS:
        for folder in (place, place / layout.below) if layout.below else (place,):
            if layout.fits(folder):
                return layout.open(folder)
    _refuse_pickles(place)
    try:
        return tenths(image_files(place))
    except FileNotFoundError as error:
        there = sorted(path.name for path in place.iterdir())
        looked = "; ".join(layout.looks_like for layout in LAYOUTS)
        more = ", ..." if len(there) > 9 else ""
        raise FileNotFoundError(
            f"{error}; looked also for {looked}; found {', '.join(there[:9]) or 'nothing'}{more}"
        ) from None


def _file(place: Path) -> Splits:
    if place.suffix in ARRAYS:
        return tenths(array_file(place))
    if place.suffix == ".parquet":
        return _parquet(place.parent, {"train": (place,)}, name=place.stem)
    kinds = ", ".join((*ARRAYS, ".parquet"))
    raise ValueError(f"data: got the file {place}, needs a folder or one of {kinds}")


def _parquet(place: Path, files: dict[str, tuple[Path, ...]], *, name: str = "") -> Splits:
    """Open Parquet files; CIFAR-10 is known by the names of its classes."""
    some = next(iter(files.values()))
    if {"train", "test"} == files.keys() and columns_of(some[0]).classes == CLASSES:
        return cifar10_rows(place)
    return parquet_splits(name or place.resolve().name, files)


def _refuse_pickles(place: Path) -> None:
    """Say no to CIFAR-10's Python files: opening a pickle runs whatever code is in it."""
    for folder in (place, place / "cifar-10-batches-py"):
        if (folder / "data_batch_1").is_file():
            raise ValueError(
                f"data: {folder} holds CIFAR-10 as Python pickles, which can run any code and "
                "are never opened; needs the binary version (cifar-10-binary.tar.gz, folder "
                "cifar-10-batches-bin) or Parquet files"
            )
