"""A file that is whole or not there, whenever the process that writes it is killed."""

import errno
import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNFINISHED = ".unfinished-"
NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM}
"""Errors of file systems that cannot sync a folder, as some network file systems."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; at the end, sync the file to disk and rename it.

    Until then the old file stays. Each process, on any machine, has a temporary path of its own.

    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "vectors.txt"
    >>> with whole_file(file) as unfinished:
    ...     _ = unfinished.write_text("all of it")
    ...     file.exists()
    False
    >>> file.read_text()
    'all of it'
    """
    unfinished = path.with_name(f".{path.name}{UNFINISHED}{uuid.uuid4().hex[:12]}")
    try:
        yield unfinished
        _sync(unfinished, os.O_RDWR)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    try:
        _sync(path.parent, os.O_RDONLY)
    except OSError as error:
        if error.errno not in NO_FOLDER_SYNC:
            raise


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file, and its folder if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


def write_json(path: Path, record: object) -> None:
    """Write a file of readable JSON, and its folder if there is none."""
    write_whole(path, json.dumps(record, indent=2) + "\n")


def sweep_unfinished(folder: Path, names: str = "*", *, older: float = 0.0) -> None:
    """Remove the unfinished files that killed processes left, of files whose names match.

    No process may be writing them. Files changed in the last `older` seconds stay.
    """
    for left in folder.glob(f"{names}{UNFINISHED}*"):
        with suppress(FileNotFoundError):
            if not older or time.time() - left.stat().st_mtime >= older:
                left.unlink()


def _sync(place: Path, mode: int) -> None:
    """Wait until a file, or the list of names in a folder, is on disk."""
    descriptor = os.open(place, mode | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
