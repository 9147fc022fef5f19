"""The bytes of a shard: what is gone or cut short is bad, what a network fails at is an error."""

import errno

from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.stores.files import Files

GONE = (errno.ENOENT, errno.EACCES, errno.EISDIR, errno.ENOTDIR, errno.EIO)


def shard_bytes(files: Files, name: str, start: int = 0, length: int | None = None) -> bytes:
    """Read a range of a file; an `UnreadableImageError` where there is no such range.

    An error of the network is raised as it is, since the images may be there another time.
    """
    where = f"{files.place}/{name}"
    try:
        return files.read(name, start, length)
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.errno in GONE:
            raise UnreadableImageError(f"{where}: the file is gone", "missing") from error
        if length is not None and _too_short(files, name, start + length):
            raise UnreadableImageError(f"{where}: the file is cut short", "truncated") from None
        raise


def _too_short(files: Files, name: str, end: int) -> bool:
    try:
        return files.size(name) < end
    except OSError:
        return False
