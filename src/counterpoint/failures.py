"""What goes wrong outside of a user's settings: a disk, a process, a number."""

import errno


class RunFailure(RuntimeError):  # noqa: N818 (each kind of it is an error)
    """A run that cannot continue; the command prints its message and nothing else."""


def errno_name(error: OSError) -> str:
    """Name an error of the operating system as its manual does.

    >>> errno_name(OSError(28, "No space left on device"))
    'ENOSPC: No space left on device'
    """
    return f"{errno.errorcode.get(error.errno or 0, type(error).__name__)}: {error.strerror}"
