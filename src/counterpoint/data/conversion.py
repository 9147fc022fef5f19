"""Anything that holds images becomes a Source, or Splits of them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64
from torch import Tensor
from torch.utils.data import IterableDataset

from counterpoint.data.array_source import ArraySource
from counterpoint.data.dataset_items import dataset_name, dataset_source
from counterpoint.data.layouts.arrays import array_images
from counterpoint.data.layouts.detect import open_data
from counterpoint.data.source import Source
from counterpoint.data.splits import Splits
from counterpoint.data.splitting import arranged, tenths

TAKEN = (
    "a path, Splits, a Source, a uint8 tensor or array of images, a map-style Dataset, a Hugging "
    "Face dataset or a list of images"
)
OTHERS = ("validation", "valid", "val")


def as_source(
    data: Any, *, name: str | None = None, labels: Int64[Tensor, " sample"] | None = None
) -> Source:
    """Return the images of anything that holds some: those to train on, where there are splits.

    A path is opened whatever its layout (`open_data`). A tensor (n, channels, height, width) or an
    array of bytes is taken as it is, and may have `labels`. Of a torch `Dataset`, a Hugging Face
    dataset or a list, the items are PIL images, arrays, paths or encoded bytes; alone, or with
    their label in a tuple or a dict.

    >>> import torch
    >>> as_source(torch.zeros(5, 3, 8, 8, dtype=torch.uint8), name="noise")
    noise: 5 images, 3 x 8 x 8, no labels
    """
    if labels is not None and not isinstance(data, Tensor | np.ndarray):
        raise TypeError(
            "data: labels go with a tensor or an array; a dataset has them in its items"
        )
    if isinstance(data, Source):
        return data if name is None else data.named(name)
    if isinstance(data, Splits | str | os.PathLike):
        train = as_splits(data).train
        return train if name is None else train.named(name)
    if isinstance(data, Tensor):
        return ArraySource(name or "images", data, labels)
    if isinstance(data, np.ndarray):
        return ArraySource(name or "images", array_images(data, "the array"), labels)
    if _by_number(data):
        return dataset_source(data, name or dataset_name(data))
    raise TypeError(f"data: got {_type(data)}{_instead(data)}; needs {TAKEN}")


def as_splits(data: Any) -> Splits:
    """Return splits: those of a path or of a dict of datasets; else a tenth each is held out.

    Only images with labels are held out: a plain tensor has none, and all of it is for training.
    Give `as_source(images, labels=...)` to hold some out, or a dict to say which.

    >>> import torch
    >>> from counterpoint.data import as_source, as_splits
    >>> images = torch.zeros(100, 3, 8, 8, dtype=torch.uint8)
    >>> splits = as_splits(images)
    >>> len(splits.train), len(splits.validation), len(splits.test)
    (100, 0, 0)
    >>> splits = as_splits(as_source(images, labels=torch.arange(100) % 2))
    >>> len(splits.train), len(splits.validation), len(splits.test)
    (80, 10, 10)
    """
    if isinstance(data, Splits):
        return data
    if isinstance(data, str | os.PathLike):
        return open_data(data if isinstance(data, str) else Path(data))
    if isinstance(data, Mapping) and "train" in data:
        parts = {split: as_source(part) for split, part in data.items()}
        validation = next((parts[other] for other in OTHERS if other in parts), None)
        return arranged(parts["train"], validation, parts.get("test"))
    return tenths(as_source(data))


def one_split(data: Any) -> Source:
    """Return all images of anything that holds some; refuse splits, of which one must be said."""
    if not isinstance(data, Splits | str | os.PathLike):
        return as_source(data)
    found = as_splits(data)
    if len(found.validation) or len(found.test):
        raise ValueError(
            f"data: {found!r}; needs one split, such as open_data(path).test. counterpoint embed "
            "writes vectors of all of them"
        )
    return found.train


def _by_number(data: Any) -> bool:
    if isinstance(data, Mapping | bytes | set | frozenset | IterableDataset):
        return False
    return hasattr(data, "__len__") and hasattr(data, "__getitem__")


def _instead(data: Any) -> str:
    if isinstance(data, IterableDataset) or hasattr(data, "__next__"):
        return ", whose items have no numbers: an order that can be repeated needs them"
    if isinstance(data, Mapping) and "train" in data:
        return ', which has splits: take data["train"]'
    return ""


def _type(data: Any) -> str:
    return f"{type(data).__module__}.{type(data).__name__}"
