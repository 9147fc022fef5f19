"""How many bytes of shards may lie on this machine."""

import os
import re
import shutil
import stat
from pathlib import Path

VARIABLE = "COUNTERPOINT_SHARD_CACHE"
SHARE = 0.5  # of what is free, or is the cache's already
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_bytes(text: str) -> int:
    """Read a number of bytes as people write it; 0 keeps nothing.

    >>> parse_bytes("200GB"), parse_bytes("1.5 TB"), parse_bytes("0")
    (200000000000, 1500000000000, 0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text, re.IGNORECASE)
    if found is None:
        raise ValueError(f"{VARIABLE}: got {text!r}, needs a number of bytes such as 200GB")
    return int(float(found[1]) * UNITS[found[2].lower()])


def cache_bytes(folder: Path) -> int:
    """Return the bound of the cache: COUNTERPOINT_SHARD_CACHE, else half of the free disk."""
    if text := os.environ.get(VARIABLE):
        return parse_bytes(text)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        own = sum(map(_length, folder.iterdir()))
        return int(SHARE * (shutil.disk_usage(folder).free + own))
    except OSError:  # no cache can be written here
        return 0


def _length(path: Path) -> int:
    """Return the bytes of a file; 0 for one that another process has just renamed or deleted."""
    try:
        known = path.stat()
    except OSError:
        return 0
    return known.st_size if stat.S_ISREG(known.st_mode) else 0
