"""What a user should know about data when it is opened, once."""

import os
import sys
from functools import lru_cache


@lru_cache(maxsize=256)
def say_once(text: str) -> None:
    """Write a line to stderr, once a process, and by one process of a machine."""
    if os.environ.get("LOCAL_RANK", "0") == "0":
        sys.stderr.write(f"data    {text}\n")
