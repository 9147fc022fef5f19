"""How a checkpoint that cannot be written or read is refused."""

import errno

from counterpoint.failures import RunFailure


class CheckpointError(RunFailure):
    """A checkpoint that could not be written, or cannot be used."""


def named(error: OSError) -> str:
    """Name an error of the operating system as its manual does.

    >>> named(OSError(28, "No space left on device"))
    'ENOSPC: No space left on device'
    """
    return f"{errno.errorcode.get(error.errno or 0, type(error).__name__)}: {error.strerror}"
