"""Names of files in a data set: they come from manifests, which anybody can write."""

from pathlib import PurePosixPath


def checked_name(name: str) -> str:
    """Return a name that stays in its folder; refuse any other.

    >>> checked_name("train/a.tar")
    'train/a.tar'
    >>> checked_name("../../etc/passwd")
    Traceback (most recent call last):
    ValueError: data: the file name '../../etc/passwd' leaves its folder; it is not opened
    """
    path = PurePosixPath(name)
    bad = not name or path.is_absolute() or ".." in path.parts or "\0" in name or "://" in name
    if bad or path.as_posix() != name:
        raise ValueError(f"data: the file name {name[:200]!r} leaves its folder; it is not opened")
    return name
