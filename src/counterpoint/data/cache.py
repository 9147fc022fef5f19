"""Decoded images kept between runs: the second start reads bytes instead of decoding files."""

import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from counterpoint.data.identity import content_of, sampled_places
from counterpoint.data.locking import alone

Arrays = dict[str, np.ndarray]


def cache_folder() -> Path:
    """Find the cache: COUNTERPOINT_CACHE, else the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("COUNTERPOINT_CACHE") or f"{home}/counterpoint/decoded")


def cached(files: Sequence[Path], make: Callable[[], Arrays], *, keep: bool = True) -> Arrays:
    """Return what `make` gives, from the cache when the files are still the same.

    Files are known by name, size, time of change and some of their content: copies and archives
    may set one time for all. The arrays are mapped into memory, so that the ranks of a machine
    share them, and of ranks that start at once one makes them. A cache that cannot be written is
    not an error: the arrays are rebuilt each time. `keep` says whether to write what was made.
    """
    known = [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    content = content_of(files[place] for place in sampled_places(len(files)))
    place = cache_folder() / hashlib.sha256(repr(known).encode() + content).hexdigest()[:24]
    if place.is_dir():
        return _mapped(place)
    if not keep:
        return make()
    with alone(place.with_suffix(".lock")):
        if not place.is_dir():  # else it was made while we waited
            arrays = make()
            _write(arrays, place)
            if not place.is_dir():
                return arrays
    return _mapped(place)


def _mapped(place: Path) -> Arrays:
    """Map arrays copy on write: what is written to them stays in this process."""
    return {f.stem: np.load(f, mmap_mode="c", allow_pickle=False) for f in place.glob("*.npy")}


def _write(arrays: Arrays, place: Path) -> None:
    unfinished = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        unfinished.mkdir(parents=True)
        for name, array in arrays.items():
            np.save(unfinished / f"{name}.npy", array, allow_pickle=False)
        unfinished.rename(place)
    except OSError:
        pass  # read-only, full, or another process was first
    finally:  # Ctrl-C as well: there may be gigabytes
        shutil.rmtree(unfinished, ignore_errors=True)
