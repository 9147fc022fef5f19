"""A folder of image files."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import torch

from counterpoint.data.description import unopened_words
from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.formats import SUFFIXES
from counterpoint.data.identity import Identity, content_of, sampled_places
from counterpoint.data.index import Index
from counterpoint.data.indexing import index_of
from counterpoint.data.packed_names import shown
from counterpoint.data.pictures import FileOnDisk


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """The files of a folder, by its index."""

    root: Path
    index: Index
    kind: str = "files"

    def __len__(self) -> int:
        return len(self.index.files)

    def path(self, place: int) -> Path:
        return self.root / os.fsdecode(self.index.files[place])

    def stored(self, place: int) -> FileOnDisk:
        return FileOnDisk(self.path(place))

    @property
    def unopened(self) -> dict[str, int]:
        return self.index.unopened

    @property
    def shut(self) -> tuple[str, ...]:
        return self.index.unreadable

    def identity(self) -> Identity:
        digest = hashlib.blake2b(digest_size=32)
        for part in (self.index.files.data, self.index.files.ends, self.index.sizes):
            digest.update(part.numpy().data)
        some = (self.path(place) for place in sampled_places(len(self)))
        return Identity(digest.digest(), content_of(some))


def image_files(folder: str | Path) -> EncodedSource:
    """Find the image files of a folder and those below it, in the order of their names.

    Where they lie in two or more subfolders, the subfolder is the label. The list is kept
    between runs and made anew when a file is added, removed or renamed; a file whose content
    is changed in place is not noticed (`index_of` says why).

    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> with TemporaryDirectory() as folder:
    ...     for kind in ("cat", "dog"):
    ...         (Path(folder) / kind).mkdir()
    ...         Image.new("RGB", (8, 8)).save(Path(folder) / kind / "1.png")
    ...     found = image_files(folder)
    >>> len(found), found.classes
    (2, ('cat', 'dog'))
    """
    folder = Path(folder)
    index = index_of(folder)
    if "" in index.unreadable:
        raise ValueError(f"data: the folder {folder} may not be read; needs permission to list it")
    if not len(index.files):
        hidden = "; hidden files and folders were left out" if _hidden(folder) else ""
        beside = unopened_words(index.unopened)
        others = f"; {beside}" if beside else ""
        raise FileNotFoundError(f"data: no {', '.join(SUFFIXES)} files in {folder}{hidden}{others}")
    every = torch.arange(len(index.files))
    name = folder.resolve().name
    return EncodedSource(name, Folder(folder, index), every, index.labels, index.classes)


def only_folder(images: EncodedSource) -> str:
    """Name the one subfolder that all image files of a folder lie in; "" where there is none.

    Such a folder alone is no label. Beside a training set it may be one of its classes.

    >>> only_folder(image_files(photos_folder))
    ''
    """
    assert isinstance(images.store, Folder)
    files = images.store.index.files
    top, slash, _ = files[0].partition(b"/")
    # Names are sorted with the files of a folder side by side: the first and the last decide.
    return shown(top) if slash and files[len(files) - 1].startswith(top + slash) else ""


def _hidden(folder: Path) -> bool:
    return any(entry.name.startswith(".") for entry in folder.iterdir())
