"""Every image file below a folder, by name."""

import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from counterpoint.data.formats import SUFFIXES
from counterpoint.data.packed_names import shown
from counterpoint.progress import tracked

ENDINGS = tuple(suffix.encode() for suffix in SUFFIXES)
SUFFIX = 12  # letters that are kept of a suffix
TICK = 20_000_000  # ns; Linux stamps a change with the time of its last tick, at most 10 ms ago
COARSE = 2_000_000_000  # ns; file systems that keep whole seconds, of FAT every second one


@dataclass
class Listing:
    """What was found; names are relative to the folder."""

    files: list[bytes] = field(default_factory=list)
    folders: list[bytes] = field(default_factory=list)
    times: list[tuple[int, int]] = field(default_factory=list)
    """When each folder was changed: its content, and its permissions or content."""
    unreadable: list[bytes] = field(default_factory=list)
    parquet: bool = False
    """Whether there is a Parquet file among the others."""
    unopened: Counter[str] = field(default_factory=Counter)
    """How many other files there are, by their suffix."""
    seen: set[tuple[int, int]] = field(default_factory=set)
    """Device and number of every folder, by which a loop of links is known."""


def list_images(root: Path) -> Listing:
    """List the image files of a folder and of those below it.

    Hidden files and folders are left out: they are caches and macOS's `._` files. Links to
    folders are followed, after all real ones: a folder is read once, by its own name if it has
    one here, so that links that lead back are harmless. A folder that may not be read is noted.
    """
    listing = Listing()
    waiting = [b""]
    while waiting:
        links: list[bytes] = []
        for name in tracked(waiting, f"reading the folders of {shown(os.fsencode(root))}"):
            _read(os.fsencode(root), name, listing, waiting, links)  # more wait while we go
        waiting = sorted(links)
    return listing


def _read(
    root: bytes, name: bytes, listing: Listing, waiting: list[bytes], links: list[bytes]
) -> None:
    """Read one folder; the folders in it are put with those that wait, or with the links."""
    path = os.path.join(root, name)  # noqa: PTH118 (bytes: a name need not be text)
    try:
        known = _settled(path)
        if (known.st_dev, known.st_ino) in listing.seen:
            return
        listing.seen.add((known.st_dev, known.st_ino))
        listing.folders.append(name)
        listing.times.append((known.st_mtime_ns, known.st_ctime_ns))
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.name.startswith(b"."):
                    continue
                below = os.path.join(name, entry.name)  # noqa: PTH118
                match _kind(entry):
                    case "folder":
                        (links if entry.is_symlink() else waiting).append(below)
                    case "file":
                        listing.files.append(below)
                    case "parquet":
                        listing.parquet = True
                    case "other":
                        suffix = os.path.splitext(entry.name)[1].lower()  # noqa: PTH122 (bytes)
                        listing.unopened[shown(suffix[:SUFFIX]) or "no suffix"] += 1
    except OSError:
        listing.unreadable.append(name)


def _kind(entry: "os.DirEntry[bytes]") -> str:
    """Tell folders, image, Parquet and other files; a link that leads nowhere is none of them."""
    try:
        if entry.is_dir():
            return "folder"
        if entry.name.endswith(b".parquet"):
            return "parquet"
        if not entry.is_file():
            return ""
        return "file" if entry.name.lower().endswith(ENDINGS) else "other"
    except OSError:
        return ""


def _settled(path: bytes) -> os.stat_result:
    """Ask when a folder was changed; if just now, wait until another change would show.

    Two changes within a tick have one time: without waiting, the second could go unnoticed.
    """
    known = os.stat(path)  # noqa: PTH116
    tick = TICK if known.st_mtime_ns % 1_000_000_000 else COARSE
    age = time.time_ns() - known.st_mtime_ns
    if 0 <= age < tick:
        time.sleep((tick - age) / 1e9)
        known = os.stat(path)  # noqa: PTH116
    return known
