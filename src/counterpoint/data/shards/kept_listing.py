"""What opening many files found out, kept while none of them has changed."""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from torch import Tensor

from counterpoint.data.cache import cache_folder
from counterpoint.data.locking import alone
from counterpoint.data.shards.thread_map import thread_map
from counterpoint.data.stores.files import Files
from counterpoint.data.tensor_file import write_tensors


class FileListing(NamedTuple):
    """A few numbers of each file, and what is said of all."""

    tensors: dict[str, Tensor]
    words: dict[str, Any]


def kept_listing(
    files: Files,
    names: Sequence[str],
    form: str,
    make: Callable[[Sequence[str]], FileListing],
) -> FileListing:
    """Return the listing of files from the cache, or make it of their versions and keep it.

    Of several processes that start at once, one makes it. A cache that cannot be written is not an
    error: the listing is then made each time.
    """
    what = f"asking for {len(names):,} files"
    versions = list(thread_map(files.version, names, what))
    known = json.dumps([form, where(files), list(zip(names, versions, strict=True))])
    place = cache_folder() / f"listing-{digest_text(known)}.safetensors"
    if (kept := _load(place)) is not None:
        return kept
    with alone(place.with_suffix(".lock")):
        if (kept := _load(place)) is not None:  # made while we waited
            return kept
        made = make(versions)
        with suppress(OSError, SafetensorError):
            write_tensors(place, made.tensors, metadata={"words": json.dumps(made.words)})
        return made


def where(files: Files) -> str:
    """Name a folder or address in full."""
    return files.place if "://" in files.place else str(Path(files.place).resolve())


def digest_text(text: str) -> str:
    """Make a short name of a long text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _load(place: Path) -> FileListing | None:
    try:
        with safe_open(place, framework="pt") as stored:
            words = json.loads(stored.metadata()["words"])
            return FileListing({k: stored.get_tensor(k) for k in stored.keys()}, words)  # noqa: SIM118
    except (OSError, SafetensorError):  # not there, or cut short by a machine that went down
        return None
