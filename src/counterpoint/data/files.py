"""A folder of image files of varying size, with or without labels."""

from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.pictures import SUFFIXES, FilePicture, read_picture


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """Image files; the number of a sample is its place here."""

    name: str
    paths: tuple[Path, ...]
    labels: Int64[Tensor, " sample"] | None = None
    classes: tuple[str, ...] | None = None
    """The names of the labels: those of the subfolders."""

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        labels = "no labels" if self.labels is None else f"{int(self.labels.max()) + 1} folders"
        return f"{self.name}: {len(self):,} image files, {labels}"

    def pictures(self, index: Int64[Tensor, " batch"]) -> list[FilePicture]:
        """Read some files and their headers."""
        return [read_picture(self.paths[number]) for number in index.tolist()]

    def subset(self, name: str, samples: Int64[Tensor, " chosen"]) -> "Files":
        """Take some samples, in the order given."""
        labels = None if self.labels is None else self.labels[samples]
        paths = tuple(self.paths[number] for number in samples.tolist())
        return Files(f"{self.name} {name}", paths, labels, self.classes)


def image_files(folder: str | Path) -> Files:
    """Find the image files of a folder and those below it, in the order of their names.

    Where they lie in two or more subfolders, the subfolder is the label.
    """
    folder = Path(folder)
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
    if not paths:
        raise FileNotFoundError(f"data: no {', '.join(SUFFIXES)} files in {folder}")
    below = [path.relative_to(folder).parts for path in paths]
    kinds = {name: n for n, name in enumerate(sorted({parts[0] for parts in below}))}
    labelled = len(kinds) > 1 and all(len(parts) > 1 for parts in below)
    labels = torch.tensor([kinds[parts[0]] for parts in below]) if labelled else None
    return Files(folder.resolve().name, tuple(paths), labels, tuple(kinds) if labelled else None)
