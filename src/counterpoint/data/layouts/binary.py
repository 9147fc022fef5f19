"""Official binary files: records of one length, one after the other, and nothing else."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor


def records(file: Path, *, count: int, length: int) -> UInt8[Tensor, "{count} {length}"]:
    """Map a file of `count` records of `length` bytes into memory.

    It is read where it is used, and ranks share it; what is written to it stays in memory.
    """
    if not file.is_file():
        there = sorted(path.name for path in file.parent.glob("*"))[:9]
        raise FileNotFoundError(f"data: {file} is missing; found {', '.join(there) or 'nothing'}")
    found, needed = file.stat().st_size, count * length
    if found != needed:
        raise ValueError(
            f"data: {file} has {found:,} bytes, needs {needed:,}: {count:,} records of "
            f"{length:,}; it was cut short or is another file, download it again"
        )
    mapped = np.memmap(file, np.uint8, mode="c", shape=(count, length))
    return torch.from_numpy(mapped)


def checked_labels(labels: UInt8[Tensor, " sample"], *, first: int, file: Path) -> Tensor:
    """Number ten classes from 0; other numbers mean that the file is not what it seems."""
    found = labels.to(torch.int64) - first
    if len(found) and not 0 <= int(found.min()) <= int(found.max()) < 10:
        low, high = int(found.min()) + first, int(found.max()) + first
        raise ValueError(
            f"data: the labels of {file} are {low} to {high}, needs {first} to {first + 9}; "
            "it is another file, download it again"
        )
    return found


def class_names(file: Path, *, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """Read the names of classes, one a line."""
    if not file.is_file():
        return otherwise
    lines = file.read_text("utf-8", "backslashreplace").splitlines()
    return tuple(line.strip() for line in lines if line.strip()) or otherwise
