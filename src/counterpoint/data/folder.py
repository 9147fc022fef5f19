"""A folder of image files."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.files import Files
from counterpoint.data.index import Index
from counterpoint.data.indexing import index_of
from counterpoint.data.pictures import (
    SUFFIXES,
    FilePicture,
    UnreadableImageError,
    open_picture,
)


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """The files of a folder, by its index."""

    root: Path
    index: Index
    words: tuple[str, str] = ("image files", "folders")

    def __len__(self) -> int:
        return len(self.index.files)

    def path(self, place: int) -> Path:
        return self.root / os.fsdecode(self.index.files[place])

    def content(self, place: int) -> bytes:
        path = self.path(place)
        try:
            return path.read_bytes()
        except OSError as error:
            raise UnreadableImageError(f"{path}: {error.strerror}", "missing") from error

    def picture(self, place: int) -> FilePicture:
        return open_picture(self.content(place), str(self.path(place)))

    def known(self, places: Int64[Tensor, " some"]) -> Iterator[bytes]:
        sizes, times = self.index.sizes[places].tolist(), self.index.times[places].tolist()
        for name, size, time in zip(self.index.files.some(places), sizes, times, strict=True):
            yield b"%s %d %d\n" % (name.rpartition(b"/")[2], size, time)


def image_files(folder: str | Path) -> Files:
    """Find the image files of a folder and those below it, in the order of their names.

    Where they lie in two or more subfolders, the subfolder is the label. The list is kept
    between runs and made anew when a file is added, removed or renamed; a file whose content
    is changed in place is not noticed (`index_of` says why).
    """
    folder = Path(folder)
    index = index_of(folder)
    if "" in index.unreadable:
        raise ValueError(f"data: the folder {folder} may not be read; needs permission to list it")
    if not len(index.files):
        hidden = "; hidden files and folders were left out" if _hidden(folder) else ""
        raise FileNotFoundError(f"data: no {', '.join(SUFFIXES)} files in {folder}{hidden}")
    every = torch.arange(len(index.files))
    name = folder.resolve().name
    return Files(name, Folder(folder, index), every, index.labels, index.classes)


def _hidden(folder: Path) -> bool:
    return any(entry.name.startswith(".") for entry in folder.iterdir())
