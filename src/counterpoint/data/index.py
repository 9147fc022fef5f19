"""What a folder holds, as a few arrays in one file that is mapped into memory."""

import json
import os
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import torch
from jaxtyping import Int64
from safetensors import SafetensorError, safe_open
from torch import Tensor

from counterpoint.data.listing import list_images
from counterpoint.data.packed_names import Names, shown
from counterpoint.data.tensor_file import write_tensors
from counterpoint.progress import tracked

KINDS = 100  # suffixes of files that are not opened, and are counted


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The image files of a folder in the order of their paths, and how to see if it is true."""

    files: Names
    sizes: Int64[Tensor, " file"]
    times: Int64[Tensor, " file"]
    """When each was changed, in ns."""
    labels: Int64[Tensor, " file"] | None
    classes: tuple[str, ...] | None
    folders: Names
    folder_times: Int64[Tensor, "folder 2"]
    unreadable: tuple[str, ...]
    parquet: bool
    """Whether there is a Parquet file too: then this is not a mere folder of images."""
    unopened: dict[str, int]
    """How many other files there are, by their suffix; the most frequent first."""

    def is_true(self, root: Path) -> bool:
        """See whether no folder was changed since: adding, removing and renaming change one."""
        place = os.fsencode(root)
        names = self.folders.some(torch.arange(len(self.folders)))
        for name, times in zip(names, self.folder_times.tolist(), strict=True):
            try:
                known = os.stat(os.path.join(place, name))  # noqa: PTH116, PTH118 (bytes)
            except OSError:
                return False
            if [known.st_mtime_ns, known.st_ctime_ns] != times:
                return False
        return True


def make_index(root: Path) -> Index:
    """Go through a folder and ask for the size and time of every image file in it."""
    listing = list_images(root)
    # A path is compared part by part, as Path does it: no name holds a zero byte.
    names = sorted(listing.files, key=lambda name: name.replace(b"/", b"\0"))
    place, what = os.fsencode(root), f"reading the sizes of {len(names):,} files"
    known = [_size_and_time(place, name) for name in tracked(names, what)]
    found = [(name, *k) for name, k in zip(names, known, strict=True) if k is not None]
    names = [name for name, _, _ in found]
    labels, classes = _labels(names)
    return Index(
        Names.of(names),
        torch.tensor([size for _, size, _ in found], dtype=torch.int64),
        torch.tensor([time for _, _, time in found], dtype=torch.int64),
        labels,
        classes,
        Names.of(listing.folders),
        torch.tensor(listing.times, dtype=torch.int64).view(-1, 2),
        tuple(shown(name) for name in listing.unreadable),
        listing.parquet,
        dict(sorted(listing.unopened.items(), key=lambda one: (-one[1], one[0]))[:KINDS]),
    )


def _size_and_time(root: bytes, name: bytes) -> tuple[int, int] | None:
    try:
        known = os.stat(os.path.join(root, name))  # noqa: PTH116, PTH118 (bytes)
    except OSError:  # gone since it was listed
        return None
    return known.st_size, known.st_mtime_ns


def _labels(names: list[bytes]) -> tuple[Tensor | None, tuple[str, ...] | None]:
    """Take the first folder of each path as its label, where all have one and it differs."""
    tops = [top for top, slash, _ in map(bytes.partition, names, repeat(b"/")) if slash]
    kinds = {name: number for number, name in enumerate(sorted(set(tops)))}
    if len(kinds) < 2 or len(tops) < len(names):
        return None, None
    return torch.tensor([kinds[top] for top in tops]), tuple(shown(name) for name in kinds)


def save_index(index: Index, place: Path) -> None:
    """Write an index at once: nobody ever sees half of it."""
    tensors = {
        "files": index.files.data,
        "file_ends": index.files.ends,
        "sizes": index.sizes,
        "times": index.times,
        "folders": index.folders.data,
        "folder_ends": index.folders.ends,
        "folder_times": index.folder_times,
        **({} if index.labels is None else {"labels": index.labels}),
    }
    words = {
        "classes": index.classes,
        "unreadable": index.unreadable,
        "parquet": index.parquet,
        "unopened": index.unopened,
    }
    write_tensors(place, tensors, metadata={"words": json.dumps(words)})


def load_index(place: Path) -> Index | None:
    """Map an index into memory: ranks share it, and only what is used is read."""
    try:
        with safe_open(place, framework="pt") as stored:
            words = json.loads(stored.metadata()["words"])
            t = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    except (OSError, SafetensorError):  # not there, or cut short by a machine that went down
        return None
    return Index(
        Names(t["files"], t["file_ends"]),
        t["sizes"],
        t["times"],
        t.get("labels"),
        None if words["classes"] is None else tuple(words["classes"]),
        Names(t["folders"], t["folder_ends"]),
        t["folder_times"],
        tuple(words["unreadable"]),
        words["parquet"],
        words["unopened"],
    )
