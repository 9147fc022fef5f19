"""What a user searches for: an image file, or an image of the folder by its number or path."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.data import UnreadableImageError
from counterpoint.data.packed_names import shown
from counterpoint.data.pictures import FileOnDisk
from counterpoint.data.source import StoredPicture
from counterpoint.evaluation import Representation
from counterpoint.evaluation.placing import on_device
from counterpoint.run import Run
from counterpoint.vectors import Vectors
from counterpoint.vectors.vectors_record import weights_sha256


@dataclass(frozen=True, slots=True)
class Query:
    """One thing that is searched for."""

    word: str
    """As it was typed."""
    row: int = -1
    """Its row in the folder; -1 for an image file that is not there."""


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """What is searched for, and its vectors."""

    asked: tuple[Query, ...]
    vectors: Float[Tensor, "query feature"]

    @property
    def rows(self) -> Int64[Tensor, " query"]:
        """The row of each query, which is not its own neighbour; -1 for image files."""
        return torch.tensor([query.row for query in self.asked])


def find_queries(vectors: Vectors, words: Sequence[str]) -> tuple[Query, ...]:
    """Find out what each word is; refuse one that is nothing."""
    known: dict[str | None, int] = {}
    if not all(word.isdecimal() for word in words):
        known = {path: row for row, path in enumerate(vectors.paths)}
    return tuple(_query(vectors, word, known) for word in words)


def _query(vectors: Vectors, word: str, known: dict[str | None, int]) -> Query:
    file = os.path.isfile(word)  # noqa: PTH113 (a word that is too long for a name is no file)
    if word.isdecimal() and not file:
        wanted = min(int(word), vectors.record.count)  # more than 64 bits fit no tensor
        row = int(torch.searchsorted(vectors.samples, wanted))
        if row < vectors.count and int(vectors.samples[row]) == int(word):
            return Query(word, row)
        raise ValueError(
            f"search: {vectors.folder} has no vector of sample {word}; needs a number below "
            f"{vectors.record.count:,} of an image that could be read"
        )
    names = _whole_names(word, vectors.record.data["path"])
    if not file:  # else it may be another picture, which has this path from another folder
        names = [word, *names]
    row = next((known[one] for one in (shown(os.fsencode(n)) for n in names) if one in known), -1)
    if row < 0 and not file:
        raise FileNotFoundError(
            f"search: {word} is no file, and no path or number of an image in {vectors.folder}"
        )
    return Query(word, row)


def _whole_names(word: str, root: str | None) -> list[str]:
    """Return what the file of a word may be called in the folder, nearest to the word first."""
    typed = Path(word)
    own = typed.parent.resolve() / typed.name  # a link is the image that it is called
    return [str(p).removeprefix(f"{root}/") for p in (typed.absolute(), own, typed.resolve())]


def embed_queries(
    vectors: Vectors, asked: tuple[Query, ...], *, run: Run | None = None, device: str | None = None
) -> Queries:
    """Take the vectors of images that are in the folder, and embed image files that are not.

    The encoder is opened only if it is needed: `run`, or the one that the folder names.
    """
    rows = torch.tensor([query.row for query in asked])
    found = torch.zeros(len(asked), vectors.width)
    found[rows >= 0] = vectors.some(rows[rows >= 0].tolist()).float()
    files = [query.word for query in asked if query.row < 0]
    if files:
        found[rows < 0] = _embedded(vectors, files, run or vectors.record.address.open(), device)
    return Queries(asked, found)


def _embedded(
    vectors: Vectors, files: list[str], run: Run, device: str | None
) -> Float[Tensor, "file feature"]:
    known = vectors.record.encoder
    if weights_sha256(run.encoder) != known["weights"]:
        raise ValueError(
            f"search: the weights of {run.folder} are not those that made {vectors.folder}; needs "
            "the encoder of these vectors, or embed the images again"
        )
    for file in files:
        try:
            FileOnDisk(Path(file)).picture().decode(0.01)
        except UnreadableImageError as error:
            raise ValueError(f"search: {error}") from error
    with on_device(run.model, device):
        return Representation(run.model, known["map"])([str(Path(f).resolve()) for f in files])


def query_picture(vectors: Vectors, query: Query) -> StoredPicture | None:
    """Open the picture of a query, to show it."""
    if query.row >= 0:
        return vectors.picture(int(vectors.samples[query.row]))
    return FileOnDisk(Path(query.word)).picture()
