"""STL-10 from its official binary files, with the paper's split."""

from dataclasses import dataclass
from pathlib import Path

from jaxtyping import UInt8
from torch import Tensor

from counterpoint.data.array_source import ArraySource
from counterpoint.data.layouts.binary import checked_labels, class_names, records
from counterpoint.data.layouts.layout import Layout
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import hold_out

SIDE = 96  # pixels; section 4, and https://cs.stanford.edu/~acoates/stl10/
CLASSES = (
    *("airplane", "bird", "car", "cat", "deer"),
    *("dog", "horse", "monkey", "ship", "truck"),
)
UNLABELLED = "unlabeled_X.bin"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many images the files hold; section 4 has these figures."""

    unlabelled: int = 100_000
    train: int = 5_000
    test: int = 8_000
    validation: int = 500


OFFICIAL = Counts()


def stl10(folder: str | Path, *, counts: Counts = OFFICIAL) -> Splits:
    """Read STL-10 and split it as section 4 says.

    "We train our model and baselines using the unlabeled training examples, while using 500
    labeled ones for validation": training sees the 100,000 without labels, probes learn from
    4,500 with labels, choose by the other 500 and are scored on 8,000. The paper does not say
    which 500: they are held out of no order, the same for everyone. The ten folds of
    `fold_indices.txt` are for another protocol and are not read. Images keep their 96 pixels;
    the views make them smaller.

    >>> from tempfile import TemporaryDirectory
    >>> few = Counts(unlabelled=8, train=6, test=4, validation=2)
    >>> with TemporaryDirectory() as folder:
    ...     for name, count in (("unlabeled", 8), ("train", 6), ("test", 4)):
    ...         made = (Path(folder) / f"{name}_X.bin").write_bytes(bytes(count * 3 * 96 * 96))
    ...         made = (Path(folder) / f"{name}_y.bin").write_bytes(bytes([1] * count))
    ...     splits = stl10(folder, counts=few)
    >>> len(splits.train), len(splits.labelled), len(splits.validation), len(splits.test)
    (8, 4, 2, 4)
    """
    folder = Path(folder)
    names = class_names(folder / "class_names.txt", otherwise=CLASSES)
    labelled, validation = hold_out(
        _read(folder, "train", counts.train, names), count=counts.validation
    )
    return Splits(
        train=ArraySource("stl10 train", _images(folder / UNLABELLED, counts.unlabelled)),
        validation=validation,
        test=_read(folder, "test", counts.test, names).named("stl10 test"),
        labelled=labelled.named("stl10 labelled"),
    )


def _read(folder: Path, split: str, count: int, classes: tuple[str, ...]) -> ArraySource:
    file = folder / f"{split}_y.bin"
    labels = checked_labels(records(file, count=count, length=1)[:, 0], first=1, file=file)
    return ArraySource("stl10", _images(folder / f"{split}_X.bin", count), labels, classes)


def _images(file: Path, count: int) -> UInt8[Tensor, "{count} 3 96 96"]:
    """Map images; a file holds each channel column by column, so rows and columns change."""
    found = records(file, count=count, length=3 * SIDE * SIDE)
    return found.view(count, 3, SIDE, SIDE).transpose(2, 3)


LAYOUT = Layout(
    f"STL-10's binary files ({UNLABELLED})",
    lambda place: (place / UNLABELLED).is_file() or (place / "train_X.bin").is_file(),
    stl10,
    "stl10_binary",
)
