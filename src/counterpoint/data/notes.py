"""What a user should know about data when it is opened, once and in one line."""

import os
import sys
from functools import lru_cache


@lru_cache(maxsize=256)
def say_once(text: str) -> None:
    """Write a line to stderr, once a process, and by one process of a machine."""
    local = os.environ.get("LOCAL_RANK") or os.environ.get("SLURM_LOCALID", "0")
    if local == "0":
        sys.stderr.write(f"data    {text}\n")


def one_line(error: BaseException) -> str:
    r"""Write an error of a library, which may have many lines, as one.

    >>> one_line(OSError("no more data\n to read"))
    'no more data to read'
    """
    return " ".join(str(error).split())[:300]
