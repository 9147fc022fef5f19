"""Files of this machine, read by `pread`: no position is shared, so threads and forks may read."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from counterpoint.data.stores.file_names import checked_name

OPEN = 64  # descriptors that are kept: a rank has about as many shards open


class Descriptor:
    """An open file, closed when nobody holds it: a thread may still read what another let go.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = (file.write(b"0123456789"), file.flush())
    ...     Descriptor(file.name).read(2, 3)
    b'234'
    """

    __slots__ = ("name", "number")

    def __init__(self, name: str | Path) -> None:
        self.number = -1
        self.name = str(name)
        self.number = os.open(name, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if self.number >= 0:
            os.close(self.number)

    @property
    def size(self) -> int:
        return os.fstat(self.number).st_size

    def read(self, start: int, length: int | None) -> bytes:
        """Read exactly so many bytes from a place on; all that follow without a length."""
        wanted = max(self.size - start, 0) if length is None else length
        parts: list[bytes] = []
        while wanted > 0:
            found = os.pread(self.number, wanted, start)
            if not found:
                raise OSError(f"{self.name} ends {wanted} bytes too early")
            parts.append(found)
            start, wanted = start + len(found), wanted - len(found)
        return parts[0] if len(parts) == 1 else b"".join(parts)


@dataclass(frozen=True, eq=False)
class LocalFiles:
    """The files below a folder.

    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> _ = (root / "a.tar").write_bytes(b"0123456789")
    >>> files = LocalFiles(root)
    >>> files.names(), files.size("a.tar"), files.read("a.tar", 2, 3)
    (['a.tar'], 10, b'234')
    """

    root: Path
    descriptors: dict[str, Descriptor] = field(default_factory=dict, repr=False)
    """The one that was read last is the last."""

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return type(self), (self.root,)  # descriptors belong to this process

    @property
    def place(self) -> str:
        return str(self.root)

    def names(self) -> list[str]:
        found = (path for path in self.root.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def size(self, name: str) -> int:
        return (self.root / checked_name(name)).stat().st_size

    def version(self, name: str) -> str:
        known = (self.root / checked_name(name)).stat()
        return f"{known.st_size}-{known.st_mtime_ns}"

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        return self._opened(name).read(start, length)

    def read_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        opened = self._opened(name)
        return [opened.read(start, length) for start, length in ranges]

    def expect(self, names: Sequence[str]) -> None:
        """Do nothing: the system reads ahead."""

    def _opened(self, name: str) -> Descriptor:
        """Return an open file, and let the one go that was not read for longest."""
        known = self.descriptors.get(name) or Descriptor(self.root / checked_name(name))
        keep_last(self.descriptors, name, known, OPEN)
        return known


def keep_last(table: dict[Any, Any], name: str, value: object, most: int) -> None:
    """Make an entry the last of a table, and let the first ones go where there are too many.

    Each step on a dict is whole by itself, so threads need no lock, which would have to be forked.
    Those of an OrderedDict are not: threads broke its order, and then nothing was let go any more.

    >>> table = {"a": 1, "b": 2}
    >>> keep_last(table, "a", 1, 2), keep_last(table, "c", 3, 2), table
    (None, None, {'a': 1, 'c': 3})
    """
    table.pop(name, None)
    table[name] = value
    while len(table) > most:
        with suppress(RuntimeError, StopIteration):  # another thread changed it: look again
            table.pop(next(iter(table)), None)
