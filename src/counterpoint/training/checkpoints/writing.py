"""Files and folders written so that a loss of power or a kill leaves the whole or nothing."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from counterpoint.pulse import beat
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.hashed import CHUNK
from counterpoint.training.checkpoints.manifest import Stored
from counterpoint.training.checkpoints.step_names import hidden

FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

LOCK = ".lock"
AT_ONCE = 1 << 28  # bytes that are synced together: the watchdog sees that a slow disk moves


def write_file(
    name: str,
    folder: int,
    pieces: Iterable[bytes | memoryview],
    *,
    done: Callable[[], None] = beat,
) -> Stored:
    """Write a new file to the disk itself, and give its length and hash.

    `done` is called after each of its pieces: by a thread it must not be the pulse of training.
    """
    descriptor = os.open(name, FRESH, 0o600, dir_fd=folder)
    digest, size, synced = hashlib.sha256(), 0, 0
    try:
        for piece in pieces:
            view = memoryview(piece)
            digest.update(view)
            size += len(view)
            while view:  # a write may take less than it was given
                view = view[os.write(descriptor, view[:CHUNK]) :]
                done()
            if size - synced >= AT_ONCE:
                os.fsync(descriptor)
                synced = size
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return Stored(size, digest.hexdigest())


@contextmanager
def new_folder(target: Path) -> Iterator[tuple[Path, int]]:
    """Make a folder next to the target that no one else can enter; it is gone after an error."""
    path = hidden(target, "new")
    path.mkdir(mode=0o700)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield path, descriptor
        finally:
            os.close(descriptor)
    except BaseException:  # also Ctrl-C: what is unfinished only takes up space
        shutil.rmtree(path, ignore_errors=True)
        raise


def put_in_place(new: Path, target: Path) -> None:
    """Rename a finished folder to the target; what stood there is deleted only after that."""
    old = hidden(target, "old") if os.path.lexists(target) else None
    if old is not None:
        target.rename(old)
    try:
        new.rename(target)
    except OSError:
        if old is not None:
            old.rename(target)
        raise
    sync_folder(target.parent)
    if old is not None:
        with suppress(OSError):  # the next save tries again; only space is lost
            delete(old)


def discard(path: Path) -> None:
    """Remove a checkpoint in one step, so that a kill leaves no half of it under its name."""
    gone = hidden(path, "gone")
    path.rename(gone)
    delete(gone)


def delete(path: Path) -> None:
    """Delete a folder with all its files, or a file or symlink that has its name."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, so that they are still there after a loss of power."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk itself."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def only_writer(folder: Path) -> Iterator[bool]:
    """Be the only one that writes here; the system ends this when the process dies.

    It gives False where the file system has no locks, so that no one knows.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder / LOCK, flags, 0o600)
    try:
        yield _locked(descriptor, folder)
    finally:
        with suppress(OSError):  # workers that were forked meanwhile hold the descriptor too
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _locked(descriptor: int, folder: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CheckpointError(
            f"checkpoint: another process is writing to {folder}; give each run its own folder"
        ) from error
    except OSError:  # as on Lustre, unless it was mounted with flock
        return False
    return True
