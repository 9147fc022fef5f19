"""The contract for files: what a reader of shards may ask of a folder or an object store."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Files(Protocol):
    """The files below a folder or an address; names are relative, with `/` between folders.

    A file that is not there is a `FileNotFoundError`, one that ends too early another `OSError`:
    such a file is bad. A store that does not answer, however often it is asked, is a
    `StoreFailure`, which is no `OSError`: no file is to blame, and the run ends. A name that leaves
    the folder is a `ValueError`. What is returned is always as long as was asked for.
    It can be used by several threads, in forked processes, and be pickled to another machine.
    """

    @property
    def place(self) -> str:
        """The folder or the address, as people write it."""

    def names(self) -> list[str]:
        """List all files, sorted."""

    def size(self, name: str, /) -> int:
        """Return the length of a file in bytes."""

    def version(self, name: str, /) -> str:
        """Return a word that changes when the file does: its size and time, or its ETag."""

    def read(self, name: str, /, start: int = 0, length: int | None = None) -> bytes:
        """Read a file from a byte on; an `OSError` where it is shorter than that."""

    def read_ranges(self, name: str, ranges: Sequence[tuple[int, int]], /) -> list[bytes]:
        """Read several (start, length) of one file, in as few requests as is sensible."""

    def expect(self, names: Sequence[str], /) -> None:
        """Say which whole files are read next, in this order; a disk has nothing to do."""
