"""faiss's IVF-PQ over the vectors of a folder, with exact re-ranking: for millions and more.

Vectors are put into cells, and of each only a code of a few bytes is kept in memory. The codes
give a shortlist, which is compared exactly with the fp16 vectors, mapped from a file.
"""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework.permutation import drawn
from counterpoint.search.nearest_vectors import Nearest, nearest_rows, recall
from counterpoint.vectors import Vectors
from counterpoint.vectors.part_file import part_path
from counterpoint.whole_file import sweep_unfinished, whole_file, write_json

INDEX, MATRIX, RECORD = "index.faiss", "index.f16", "index.json"
FORMAT = 1
TRAINED = 48  # vectors for each cell that k-means sees; faiss warns below 39
CODE = 4  # numbers of a vector that share a byte of its code
DEAD = 3600.0  # seconds without a write after which an unfinished index is abandoned; our choice
LEAST = 256  # vectors: a code is one of as many centres
TRIED, NEAR = 256, 10  # vectors by which the index is measured, and their neighbours
ENOUGH = 0.97  # recall at which the search stops to become wider; our choice
SHORT = 40  # times as many as are asked for are compared exactly
SEED = 0x6976667071  # "ivfpq"
TAIL = 4_096  # bytes of a part's end by which it is known
TOGETHER = 64  # queries whose shortlists are compared at a time: 13 MB at 128 numbers
SOME = 65_536  # vectors added at a time


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """What an index was made from, and how it is searched."""

    parts: str
    """A digest of the parts of the folder: others need another index."""
    cells: int
    code: int
    """Bytes of a vector's code."""
    probes: int
    """Cells that are looked into for a query."""
    recall: float
    """Share of the true ten neighbours found, for 256 of its own vectors."""
    format: int = FORMAT


@dataclass(frozen=True, slots=True, eq=False)
class IvfPqIndex:
    """An index, opened."""

    index: Any
    matrix: Float[Tensor, "row feature"]
    """Vectors of length 1 in fp16, mapped from the disk."""
    record: IndexRecord
    folder: Path

    def nearest(
        self,
        queries: Float[Tensor, "query feature"],
        *,
        count: int,
        without: Int64[Tensor, " query"] | None = None,
    ) -> Nearest:
        """Find a shortlist by the codes, and the nearest of it exactly."""
        wanted = F.normalize(queries.float(), dim=1)
        self.index.nprobe = self.record.probes
        _, short = self.index.search(wanted.numpy(), min(len(self.matrix), SHORT * count))
        listed = torch.from_numpy(short)
        if bool((listed >= len(self.matrix)).any()):
            raise _damaged(self.folder / INDEX)
        if without is not None:
            listed = listed.masked_fill(listed == without[:, None], -1)
        parts = [
            _ranked(self.matrix, some, rows, count)
            for some, rows in zip(wanted.split(TOGETHER), listed.split(TOGETHER), strict=True)
        ]
        return Nearest(torch.cat([p.rows for p in parts]), torch.cat([p.cosines for p in parts]))


def _ranked(
    matrix: Float[Tensor, "row feature"],
    wanted: Float[Tensor, "query feature"],
    listed: Int64[Tensor, "query short"],
    count: int,
) -> Nearest:
    """Compare queries with their shortlists exactly; -1 in a shortlist is nothing."""
    vectors = F.normalize(matrix[listed.clamp_min(0)].float(), dim=2)
    cosines = (vectors @ wanted[:, :, None])[:, :, 0].masked_fill(listed < 0, -torch.inf)
    best = cosines.topk(min(count, listed.shape[1]), dim=1)
    rows = listed.gather(1, best.indices).masked_fill(best.values == -torch.inf, -1)
    missing = (0, count - rows.shape[1])
    return Nearest(F.pad(rows, missing, value=-1), F.pad(best.values, missing, value=-torch.inf))


def open_index(vectors: Vectors, *, build: bool = True) -> IvfPqIndex | None:
    """Open the index of a folder; build it, where there is none of these parts, or give None."""
    faiss = _faiss()
    parts = parts_digest(vectors)
    record = _record(vectors.folder)
    there = all((vectors.folder / name).is_file() for name in (INDEX, MATRIX))
    if record is None or record.parts != parts or not there:
        if not build:
            return None
        return build_index(vectors, parts)
    place, matrix = vectors.folder / INDEX, vectors.folder / MATRIX
    try:
        with place.open("rb") as file:  # faiss takes no path that is not text
            index = faiss.read_index(faiss.PyCallbackIOReader(file.read))
    except (RuntimeError, MemoryError) as error:  # a length that was damaged may be any number
        raise _damaged(place) from error
    if index.d != vectors.width:
        raise _damaged(place)
    if matrix.stat().st_size != 2 * index.ntotal * index.d:
        raise _damaged(matrix)
    return IvfPqIndex(index, _mapped(vectors.folder, vectors.width), record, vectors.folder)


def _damaged(file: Path) -> ValueError:
    return ValueError(
        f"search: {file} is damaged: it is not as it was written; delete it and give the same "
        "counterpoint search again, which makes the index anew, or --index exact"
    )


def build_index(vectors: Vectors, parts: str) -> IvfPqIndex:
    """Build an index and keep it in the folder; it is measured, and widened until it is good."""
    faiss = _faiss()
    if vectors.count < LEAST:
        raise ValueError(
            f"search: {vectors.folder} has {vectors.count} vectors; an index needs {LEAST}, give "
            "--index exact"
        )
    (vectors.folder / RECORD).unlink(missing_ok=True)
    sweep_unfinished(vectors.folder, "*index.*", older=DEAD)  # another search may build it, too
    with whole_file(vectors.folder / MATRIX) as unfinished:
        _write_matrix(vectors, unfinished)
    matrix = _mapped(vectors.folder, vectors.width)
    rows, width = matrix.shape
    cells, code = cells_for(rows), max(1, width // CODE)
    while width % code:
        code -= 1
    coarse = faiss.IndexFlatIP(width)
    index = faiss.IndexIVFPQ(coarse, width, cells, code, 8, faiss.METRIC_INNER_PRODUCT)
    seen = drawn(rows, max(TRAINED * cells, 256 * 39), seed=SEED).sort().values
    index.train(matrix[seen].float().numpy())
    for some in matrix.split(SOME):
        index.add(some.float().numpy())
    record = IndexRecord(parts, cells, code, probes=1, recall=0.0)
    made = _widened(IvfPqIndex(index, matrix, record, vectors.folder))
    with whole_file(vectors.folder / INDEX) as unfinished:
        _write_index(index, unfinished)
    write_json(vectors.folder / RECORD, asdict(made.record))
    return made


def _widened(first: IvfPqIndex) -> IvfPqIndex:
    """Look into twice as many cells until nearly all true neighbours are found."""
    matrix, record = first.matrix, first.record
    tried = drawn(len(matrix), TRIED, seed=SEED + 1)
    queries = matrix[tried].float()
    true = nearest_rows(queries, matrix, count=NEAR, without=tried)
    probes = 4
    while True:
        made = replace(first, record=replace(record, probes=min(probes, record.cells)))
        found = recall(made.nearest(queries, count=NEAR, without=tried).rows, true.rows)
        if found >= ENOUGH or probes >= record.cells:
            return replace(made, record=replace(made.record, recall=found))
        probes *= 2


def cells_for(rows: int) -> int:
    """Choose how many cells there are: about twice the root of the vectors, a power of two.

    >>> cells_for(1_000_000), cells_for(100)
    (2048, 2)
    """
    most = max(1, rows // 39)
    return int(min(2 ** round(math.log2(2 * math.sqrt(rows))), 2 ** int(math.log2(most))))


def parts_digest(vectors: Vectors) -> str:
    """Know the parts of a folder by their names, sizes and ends, and by the encoder's weights."""
    digest = hashlib.sha256(str(vectors.record.encoder["weights"]).encode())
    for part in range(vectors.record.parts):
        with part_path(vectors.folder, part).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL))
            digest.update(f"{part} {size} ".encode() + file.read())
    return digest.hexdigest()


def _write_matrix(vectors: Vectors, place: Path) -> None:
    with place.open("wb") as file:
        for part in vectors.parts():
            file.write(F.normalize(part.vectors.float(), dim=1).half().numpy().data)


def _write_index(index: Any, place: Path) -> None:
    faiss = _faiss()
    with place.open("wb") as file:
        faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))


def _mapped(folder: Path, width: int) -> Float[Tensor, "row feature"]:
    """Map the vectors into memory; only what a shortlist touches is read."""
    whole = np.memmap(folder / MATRIX, np.float16, mode="c")  # never written: torch wants it so
    return torch.from_numpy(whole.reshape(-1, width))


def _record(folder: Path) -> IndexRecord | None:
    try:
        found = json.loads((folder / RECORD).read_text())
        return IndexRecord(**found) if found.get("format") == FORMAT else None
    except (FileNotFoundError, ValueError, TypeError):  # none yet, or of another version
        return None


def _faiss() -> Any:
    """Import faiss, which is an extra."""
    try:
        import faiss
    except ImportError as error:
        raise ValueError(
            "search: faiss is not installed; pip install 'counterpoint[search]', or --index exact"
        ) from error
    return faiss
