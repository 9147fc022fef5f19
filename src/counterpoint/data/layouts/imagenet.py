"""Folders named for splits, as ImageNet has them: train/CLASS/*.JPEG and val/CLASS/*.JPEG."""

from dataclasses import replace
from pathlib import Path

import torch

from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.layouts.image_folder import image_files, only_folder
from counterpoint.data.layouts.layout import Layout
from counterpoint.data.source import all_labels
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import arranged

VALIDATION = ("val", "validation", "valid")
TEST = ("test",)


def has_split_folders(place: Path) -> bool:
    """See whether a folder is split: a class alone may well be called train."""
    others = (place / name for name in (*VALIDATION, *TEST))
    return (place / "train").is_dir() and any(other.is_dir() for other in others)


def imagenet(place: str | Path) -> Splits:
    """Open ImageNet, or a folder like it, and split it as section 4 says.

    "We make our own 50,000 image validation set from the training set and use the official
    validation set as the test set." The paper does not say which 50,000: they are held out of
    no order, the same for everyone; of a smaller set a tenth. A `val` folder without class
    folders has no labels: it cannot be scored. Where `val` and `test` both have labels, they
    are what they are called.

    >>> from shutil import copytree
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for split in ("train", "val"):
    ...         made = copytree(photos_folder, Path(folder) / split)
    ...     splits = imagenet(folder)
    >>> len(splits.train), len(splits.validation), len(splits.test)
    (22, 2, 24)
    """
    place = Path(place)
    train = image_files(place / "train").named(place.resolve().name)
    validation, test = (_beside(place, names, train) for names in (VALIDATION, TEST))
    return arranged(train, validation, test)


def _beside(place: Path, names: tuple[str, ...], train: EncodedSource) -> EncodedSource | None:
    """Open one of the other folders, its labels numbered as those of the training images."""
    folder = next((place / name for name in names if (place / name).is_dir()), None)
    if folder is None:
        return None
    found = image_files(folder)
    alone = only_folder(found) if found.classes is None else ""
    if train.classes is not None and alone in train.classes:
        labels = torch.full((len(found),), train.classes.index(alone))
        return replace(found, labels=labels, classes=train.classes)
    if found.classes is None or not found.has_labels or train.classes is None:
        return replace(found, labels=None, classes=None)
    number = {name: n for n, name in enumerate(train.classes)}
    if strange := sorted(set(found.classes) - number.keys()):
        raise ValueError(
            f"data: {folder} has the class {strange[0]}, which {place / 'train'} has not; "
            "needs the same class folders in both"
        )
    labels = torch.tensor([number[name] for name in found.classes])[all_labels(found)]
    return replace(found, labels=labels, classes=train.classes)


LAYOUT = Layout("split folders (train and val)", has_split_folders, imagenet)
