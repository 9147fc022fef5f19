"""The index of a folder: made once, kept, shared by all ranks, made anew when files change."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from safetensors import SafetensorError

from counterpoint.data.cache import cache_folder
from counterpoint.data.formats import SUFFIXES
from counterpoint.data.index import Index, load_index, make_index, save_index
from counterpoint.data.locking import alone

FORM = f"2 {SUFFIXES}"  # another form of the index, or other files in it: another name


def index_of(root: Path) -> Index:
    """Return the index of a folder, from the cache while no folder below it was changed.

    Adding, removing and renaming files is noticed. Writing into a file in place is not, since
    a million files would have to be asked: touch its folder, or delete the cache.

    Of several processes that start at once, one makes the index and the others wait for it. A
    cache that cannot be written is not an error: the index is rebuilt each time.
    """
    if (found := kept_index(root)) is not None:
        return found
    place = _place(root)
    with alone(place.with_suffix(".lock")):
        if (found := kept_index(root)) is not None:  # made while we waited
            return found
        made = make_index(root)
        with suppress(OSError, SafetensorError):
            save_index(made, place)
        return made


def kept_index(root: Path) -> Index | None:
    """Return the index that is kept, if there is one and it is still true."""
    found = load_index(_place(root))
    return found if found is not None and found.is_true(root) else None


def _place(root: Path) -> Path:
    name = FORM.encode() + b"\0" + os.fsencode(root.resolve())
    return cache_folder() / f"folder-{hashlib.sha256(name).hexdigest()[:24]}.safetensors"
