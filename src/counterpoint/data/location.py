"""Where data is, and where runs go: on this machine."""

import os
import re
from pathlib import Path
from typing import Any

REMOTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)")  # pathlib makes one slash of two


def local(place: Any, *, what: str) -> Path:
    """Take a path of this machine; refuse addresses, and objects that are not paths.

    >>> local("s3://bucket/x", what="data")
    Traceback (most recent call last):
    ValueError: data: got s3://bucket/x; data is local files only for now: copy it to a disk first
    """
    if not isinstance(place, str | os.PathLike):
        raise TypeError(
            f"{what}: got {type(place).__module__}.{type(place).__name__}, needs the path of a "
            "folder or file; counterpoint.as_source takes tensors, arrays and datasets"
        )
    text = os.fspath(place)
    if found := REMOTE.match(text if isinstance(text, str) else os.fsdecode(text)):
        scheme, rest = found.groups()
        if scheme == "file":
            raise ValueError(f"{what}: got file:///{rest}; write the path alone: /{rest}")
        do = (
            "copy it to a disk first"
            if what == "data"
            else "give a folder of this machine, or one that is mounted like it"
        )
        raise ValueError(f"{what}: got {scheme}://{rest}; {what} is local files only for now: {do}")
    return Path(text)
