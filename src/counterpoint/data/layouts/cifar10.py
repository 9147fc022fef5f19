"""CIFAR-10 from its official binary files or from Parquet files, with the paper's split."""

from dataclasses import replace
from pathlib import Path

import torch

from counterpoint.data.array_source import ArraySource
from counterpoint.data.decoding import decoded, in_memory
from counterpoint.data.layouts.binary import checked_labels, class_names, records
from counterpoint.data.layouts.layout import Layout
from counterpoint.data.layouts.parquet import parquet_files, parquet_rows
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import arranged

CLASSES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)
"""In the order of Krizhevsky 2009, which every copy of the data set keeps."""

BATCHES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TEST = "test_batch.bin"
RECORDS = 10_000  # a file; this and the two lengths: https://www.cs.toronto.edu/~kriz/cifar.html
LABEL, PIXELS = 1, 3 * 32 * 32  # bytes: red, green and blue, each row by row


def cifar10(folder: str | Path) -> Splits:
    """Read CIFAR-10 and split it 45,000 / 5,000 / 10,000, as section 4 says.

    The paper does not say which 5,000: they are held out of no order, the same for everyone.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:  # files of the right length, all black
    ...     for name in (*BATCHES, TEST):
    ...         with (Path(folder) / name).open("wb") as file:
    ...             length = file.truncate(RECORDS * (LABEL + PIXELS))
    ...     splits = cifar10(folder)
    >>> len(splits.train), len(splits.validation), len(splits.test)
    (45000, 5000, 10000)
    """
    folder = Path(folder)
    if (folder / BATCHES[0]).is_file():
        return cifar10_binary(folder)
    return in_memory(cifar10_rows(folder))


def cifar10_binary(folder: Path, *, count: int = RECORDS) -> Splits:
    """Read the official binary files, of `count` images each."""
    names = class_names(folder / "batches.meta.txt", otherwise=CLASSES)
    train = _read_binary([folder / name for name in BATCHES], count, names)
    return _named(arranged(train, None, _read_binary([folder / TEST], count, names)))


def _read_binary(files: list[Path], count: int, classes: tuple[str, ...]) -> ArraySource:
    """Read records of a label and an image."""
    found = [records(file, count=count, length=LABEL + PIXELS) for file in files]
    labels = [
        checked_labels(some[:, 0], first=0, file=file)
        for file, some in zip(files, found, strict=True)
    ]
    images = torch.cat([some[:, LABEL:] for some in found]).view(-1, 3, 32, 32)
    return ArraySource("cifar10", images, torch.cat(labels), classes)


def cifar10_rows(folder: Path) -> Splits:
    """Find CIFAR-10 in Parquet files; nothing is decoded yet."""
    train, test = (parquet_rows("cifar10", _files(folder, split)) for split in ("train", "test"))
    train, test = replace(train, classes=CLASSES), replace(test, classes=CLASSES)
    return _named(arranged(train, None, test))


def read_parquet(folder: Path, split: str) -> ArraySource:
    """Decode every image of one split."""
    (source,) = decoded([parquet_rows("cifar10", _files(folder, split))])
    return replace(source, classes=CLASSES)


def _files(folder: Path, split: str) -> tuple[Path, ...]:
    found = parquet_files(folder)
    if split not in found:
        seen = sorted(path.name for path in folder.glob("*"))[:5] if folder.is_dir() else "nothing"
        raise FileNotFoundError(
            f"data: needs {split}-*.parquet in {folder}, or {BATCHES[0]}; found {seen}"
        )
    return found[split]


def _named(splits: Splits) -> Splits:
    """Name the test as it always was: results are compared by it."""
    return replace(splits, test=splits.test.named("cifar10"))


LAYOUT = Layout(
    f"CIFAR-10's binary files ({BATCHES[0]})",
    lambda place: (place / BATCHES[0]).is_file(),
    cifar10,
    "cifar-10-batches-bin",
)
