"""What a layout is: how it is recognised, and how it is opened."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from counterpoint.data.splits import Splits


@dataclass(frozen=True, slots=True)
class Layout:
    """A way in which images lie in a folder."""

    looks_like: str
    fits: Callable[[Path], bool]
    open: Callable[[Path], Splits]
    below: str | None = None
    """The official name of the folder, which may lie one level below."""
