"""x: where images come from."""

from pathlib import Path

from counterpoint.data.batches import Batches
from counterpoint.data.cifar10 import cifar10
from counterpoint.data.source import Source, Splits


def open_data(place: str | Path) -> Splits:
    """Open a data set by its folder."""
    return cifar10(place)


__all__ = ["Batches", "Source", "Splits", "cifar10", "open_data"]
