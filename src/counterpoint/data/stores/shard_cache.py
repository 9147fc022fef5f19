"""Whole files of a store in a folder of this machine, shared by all of its processes.

    FOLDER/KEY            a whole file: it was written as a part, checked, and renamed
    FOLDER/KEY.LIFE.part  what the process LIFE is fetching
    FOLDER/claims/NAME    a link to the name of the process that has promised to fetch the file
    FOLDER/unread/KEY     a link to the name of the process that has fetched it, until it is read
    FOLDER/lives/LIFE     locked by a process for as long as it lives

A link to a process that has ended counts for nothing, and so do its parts. The file that was used
least recently is deleted for a new one, and one that waits to be read is not; whoever has a
deleted file open reads on.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from counterpoint.data.stores.cache_size import cache_bytes
from counterpoint.data.stores.local_files import Descriptor
from counterpoint.data.stores.process_lives import bury, lives_on, own_life

IN_USE = 20.0  # seconds after its last use in which a file is not deleted
PART = ".part"


@dataclass(frozen=True)
class ShardCache:
    """The folder, and how many bytes it may hold; what is open but deleted comes on top.

    >>> import tempfile
    >>> cache = ShardCache(Path(tempfile.mkdtemp()), 1000)
    >>> cache.claim("a"), cache.claim("a"), cache.on_its_way("a")
    (True, False, True)
    >>> cache.reserve("a", 3)
    True
    >>> with cache.part("a") as part:
    ...     _ = os.pwrite(part, b"abc", 0)
    >>> cache.release("a")
    >>> cache.opened("a").read(0, 3), cache.on_its_way("a")
    (b'abc', False)
    """

    folder: Path
    most: int | None = None
    """None: what the environment says, else half of the free disk."""

    @property
    def bound(self) -> int:
        return cache_bytes(self.folder) if self.most is None else self.most

    def opened(self, key: str) -> Descriptor | None:
        """Open a file that is there, and note that it was used."""
        try:
            found = Descriptor(self.folder / key)
        except OSError:
            return None
        self.used(key)
        with suppress(OSError):
            (self._unread / key).unlink()
        return found

    def has(self, key: str) -> bool:
        return (self.folder / key).exists()

    def used(self, key: str) -> None:
        """Note that a file is in use now."""
        with suppress(OSError):
            os.utime(self.folder / key)

    def claim(self, name: str) -> bool:
        """Promise to fetch a file; False where a process that lives has done so, also this one."""
        if _linked(self._claims / name, own_life(self._lives)):
            return True
        with self._alone():  # two may find the same dead claim: the second sees the first's
            if self.on_its_way(name):
                return False
            (self._claims / name).unlink(missing_ok=True)
            return _linked(self._claims / name, own_life(self._lives))

    def on_its_way(self, name: str) -> bool:
        """Whether a process that lives has promised to fetch a file."""
        return self._lives_behind(self._claims / name)

    def release(self, name: str) -> None:
        """Take back a promise, kept or not."""
        with suppress(OSError):
            (self._claims / name).unlink()

    def reserve(self, key: str, size: int, *, force: bool = False) -> bool:
        """Make room for a file and begin its part; False where all that is there is needed.

        Needed is what was used in the last seconds, and what a process that lives has fetched and
        not read yet. With `force` that goes too.
        """
        with self._alone():
            files = sorted(self._whole(), key=lambda file: file[1])
            held = sum(length for _, _, length in files) + sum(self._part_lengths())
            for path, used, length in files:
                if held + size <= self.bound:
                    break
                if force or not self._needed(path.name, used):
                    path.unlink(missing_ok=True)
                    held -= length
            if held + size > self.bound:
                return False
            with self._part(key).open("wb") as part:
                part.truncate(size)  # its length counts from now on
            return True

    @contextmanager
    def part(self, key: str) -> Iterator[int]:
        """Give the part to write into; it becomes the whole file if nothing fails."""
        path = self._part(key)
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            yield descriptor
            os.fsync(descriptor)  # a machine that goes down must not leave a file of zeros
            _linked(self._unread / key, own_life(self._lives))
            path.rename(self.folder / key)
        finally:
            os.close(descriptor)
            path.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove what processes left that have ended."""
        with self._alone():
            for path in self.folder.glob(f"*{PART}"):
                if not lives_on(self._lives, path.name.split(".")[-2]):
                    path.unlink(missing_ok=True)
            for link in (*self._claims.glob("*"), *self._unread.glob("*")):
                if not self._lives_behind(link):
                    link.unlink(missing_ok=True)
            bury(self._lives)

    @property
    def _claims(self) -> Path:
        return self.folder / "claims"

    @property
    def _unread(self) -> Path:
        return self.folder / "unread"

    @property
    def _lives(self) -> Path:
        return self.folder / "lives"

    def _part(self, key: str) -> Path:
        return self.folder / f"{key}.{own_life(self._lives)}{PART}"

    def _lives_behind(self, link: Path) -> bool:
        try:
            return lives_on(self._lives, link.readlink().name)
        except OSError:
            return False

    def _needed(self, key: str, used: float) -> bool:
        return time.time() - used < IN_USE or self._lives_behind(self._unread / key)

    def _whole(self) -> Iterator[tuple[Path, float, int]]:
        """List whole files: path, time of last use, length."""
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if "." not in entry.name and entry.is_file():
                    with suppress(OSError):
                        known = entry.stat()
                        yield Path(entry.path), known.st_mtime, known.st_size

    def _part_lengths(self) -> Iterator[int]:
        for path in self.folder.glob(f"*{PART}"):
            with suppress(OSError):
                yield path.stat().st_size

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes and threads out."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "cache.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                yield
            finally:  # closing is not enough: a worker forked meanwhile has a copy of it
                fcntl.flock(lock, fcntl.LOCK_UN)


def _linked(link: Path, target: str) -> bool:
    """Make a link in one step; False where there is one."""
    link.parent.mkdir(parents=True, exist_ok=True)
    try:
        link.symlink_to(target)
    except FileExistsError:
        return False
    return True
