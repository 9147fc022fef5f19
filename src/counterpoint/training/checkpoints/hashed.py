"""Regular files read once, from start to end, and hashed on the way."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterpoint.failures import errno_name
from counterpoint.pulse import beat
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError

CHUNK = 4 << 20

NO_TRICKS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""A symlink is refused, and a pipe without a writer does not wait."""


class HashedFile:
    """The bytes that are used are the bytes that were hashed: the file is read only once."""

    def __init__(self, name: str, descriptor: int, *, size: int) -> None:
        self.name, self.size = name, size
        self._descriptor, self._hash = descriptor, hashlib.sha256()

    def fill(self, room: memoryview) -> None:
        """Read until the room is full."""
        done = 0
        while done < len(room):
            count = os.readv(self._descriptor, [room[done : done + CHUNK]])
            if count == 0:
                raise CheckpointError(f"{self.name}: ends early")
            self._hash.update(room[done : done + count])
            done += count
            beat()

    def take(self, count: int) -> bytes:
        """Read the next bytes."""
        room = bytearray(count)
        self.fill(memoryview(room))
        return bytes(room)

    def skip(self, count: int) -> None:
        """Read and hash the next bytes, and keep none of them."""
        room = memoryview(bytearray(min(count, CHUNK)))
        for start in range(0, count, CHUNK):
            self.fill(room[: min(CHUNK, count - start)])

    def compare(self, sha256: str) -> None:
        """Refuse the file if what was read is not what was written."""
        if self._hash.hexdigest() != sha256:
            raise CheckpointError(f"{self.name}: sha256 differs")


@contextmanager
def opened_folder(path: Path) -> Iterator[int]:
    """Hold a folder open, so that all of its files are of the same folder."""
    try:
        descriptor = os.open(path, NO_TRICKS | os.O_DIRECTORY)
    except OSError as error:
        raise CheckpointError(f"the folder cannot be read ({errno_name(error)})") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened_file(name: str, folder: int, *, most: int) -> Iterator[HashedFile]:
    """Open a regular file of at most `most` bytes."""
    try:
        descriptor = os.open(name, NO_TRICKS, dir_fd=folder)
    except OSError as error:
        raise CheckpointError(f"{name}: cannot be read ({errno_name(error)})") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise CheckpointError(f"{name}: is not a file")
        if found.st_size > most:
            raise CheckpointError(f"{name}: has {found.st_size} bytes, at most {most}")
        yield HashedFile(name, descriptor, size=found.st_size)
    except OSError as error:
        raise CheckpointError(f"{name}: cannot be read ({errno_name(error)})") from error
    finally:
        os.close(descriptor)
