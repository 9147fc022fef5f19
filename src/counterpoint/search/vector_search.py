"""Search in a folder of vectors: exactly, or by an index where there are too many for that."""

import os
from collections.abc import Iterable
from typing import Literal

from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.search.ivfpq_index import open_index
from counterpoint.search.nearest_vectors import Nearest, nearest_rows
from counterpoint.vectors import Vectors

EXACT = 2_000_000  # vectors up to which nothing else is worth it (docs/decisions/0028)
MEMORY = 0.25  # of the machine's that vectors may take; else they are read part by part

Index = Literal["auto", "exact", "ivfpq"]


def search_vectors(
    vectors: Vectors,
    queries: Float[Tensor, "query feature"],
    *,
    count: int = 12,
    index: Index = "auto",
    without: Int64[Tensor, " query"] | None = None,
) -> Nearest:
    """Find for every query the rows of a folder that are nearest by cosine.

    "exact" compares with all vectors, "ivfpq" builds and keeps an index of faiss, "auto" takes
    the first up to two million vectors. `without` is a row for each query that is left out, or -1.

    >>> import torch
    >>> from tempfile import TemporaryDirectory
    >>> from counterpoint import embed_data, open_encoder
    >>> from counterpoint.data import as_splits
    >>> images = as_splits(torch.randint(256, (6, 3, 16, 16), dtype=torch.uint8))
    >>> with TemporaryDirectory() as folder:
    ...     run = open_encoder(encoder="small", size=16)
    ...     vectors = embed_data(run, images, folder, copies=0, workers=0)
    ...     search_vectors(vectors, vectors.matrix()[:2].float(), count=3).rows[:, 0]
    tensor([0, 1])
    """
    if queries.shape[1] != vectors.width:
        raise ValueError(
            f"search: got queries of {queries.shape[1]} numbers, {vectors.folder} has vectors of "
            f"{vectors.width}; needs those of the same encoder"
        )
    if chosen_index(vectors, index) == "ivfpq":
        opened = open_index(vectors)
        assert opened is not None, "an index is built where there is none"
        return opened.nearest(queries, count=count, without=without)
    return nearest_rows(queries, in_pieces(vectors), count=count, without=without)


def chosen_index(vectors: Vectors, index: Index) -> Literal["exact", "ivfpq"]:
    """Say how a folder is searched."""
    if index == "auto":
        return "exact" if vectors.record.count <= EXACT else "ivfpq"
    return index


def in_pieces(vectors: Vectors) -> Iterable[Float[Tensor, "_ feature"]]:
    """Return the vectors in memory if they fit there, else part by part from the disk."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if 2 * vectors.record.count * vectors.width <= MEMORY * there:
        return [vectors.matrix()]
    return (part.vectors for part in vectors.parts())
