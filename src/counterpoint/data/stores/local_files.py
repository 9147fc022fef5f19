"""Files of this machine, read by `pread`: no position is shared, so threads and forks may read."""

import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

OPEN = 64  # descriptors that are kept: a rank has about as many shards open


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
    descriptors: "OrderedDict[str, int]" = field(default_factory=OrderedDict, repr=False)

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return type(self), (self.root,)  # descriptors belong to this process

    @property
    def place(self) -> str:
        return str(self.root)

    def names(self) -> list[str]:
        found = (path for path in self.root.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def size(self, name: str) -> int:
        return (self.root / name).stat().st_size

    def version(self, name: str) -> str:
        known = (self.root / name).stat()
        return f"{known.st_size}-{known.st_mtime_ns}"

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        descriptor = self._opened(name)
        wanted = os.fstat(descriptor).st_size - start if length is None else length
        parts: list[bytes] = []
        while wanted > 0:
            found = os.pread(descriptor, wanted, start)
            if not found:
                raise OSError(f"{self.root / name} ends {wanted} bytes too early")
            parts.append(found)
            start, wanted = start + len(found), wanted - len(found)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        return [self.read(name, start, length) for start, length in ranges]

    def expect(self, names: Sequence[str]) -> None:
        """Do nothing: the system reads ahead."""

    def _opened(self, name: str) -> int:
        known = self.descriptors.get(name)
        if known is not None:
            self.descriptors.move_to_end(name)
            return known
        descriptor = os.open(self.root / name, os.O_RDONLY | os.O_CLOEXEC)
        self.descriptors[name] = descriptor
        if len(self.descriptors) > OPEN:
            os.close(self.descriptors.popitem(last=False)[1])
        return descriptor
