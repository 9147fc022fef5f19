"""x: where images come from."""

from pathlib import Path

from counterpoint.data.batches import Batches
from counterpoint.data.cifar10 import cifar10
from counterpoint.data.source import Source, Splits


def open_data(place: str | Path, *, limit: int | None = None) -> Splits:
    """Open a data set by its folder; `limit` takes only the first images of each split."""
    splits = cifar10(place)
    return splits if limit is None else splits.head(limit)


__all__ = ["Batches", "Source", "Splits", "cifar10", "open_data"]
