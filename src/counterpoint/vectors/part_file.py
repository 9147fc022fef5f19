"""A part: some images of a data set and their vectors, in one Parquet file."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import torch
from jaxtyping import Float, Float16, Int64
from torch import Tensor

from counterpoint.vectors.stored_rows import StoredRow
from counterpoint.whole_file import whole_file

NAME = re.compile(r"part-(\d+)\.parquet")
LARGEST = 65504.0  # of fp16


def part_path(folder: Path, part: int) -> Path:
    """Return where a part is.

    >>> part_path(Path("vectors"), 7).as_posix()
    'vectors/part-00007.parquet'
    """
    return folder / f"part-{part:05d}.parquet"


def finished_parts(folder: Path) -> set[int]:
    """List the parts that are there; a file of that name is whole."""
    found = (NAME.fullmatch(entry.name) for entry in os.scandir(folder))
    return {int(name[1]) for name in found if name}


def part_schema(width: int) -> Any:
    """Return the columns of a part."""
    return arrow.schema(
        [
            ("sample", arrow.int64()),
            ("split", arrow.string()),
            ("path", arrow.string()),
            ("sha256", arrow.binary(32)),
            ("bytes", arrow.int64()),
            ("height", arrow.int32()),
            ("width", arrow.int32()),
            ("label", arrow.int64()),
            ("error", arrow.string()),
            ("vector", arrow.list_(arrow.float16(), width)),
        ]
    )


def write_part(
    path: Path,
    samples: Int64[Tensor, " sample"],
    splits: Sequence[str],
    rows: Sequence[StoredRow],
    vectors: Float[Tensor, "readable feature"],
) -> None:
    """Write a part: the vectors are those of the rows without an error, in their order."""
    width = vectors.shape[1]
    readable = np.array([row.error is None for row in rows])
    whole = np.zeros((len(rows), width), np.float16)
    whole[readable] = as_half(vectors).numpy()
    columns = {
        "sample": samples.numpy(),
        "split": list(splits),
        "vector": vector_column(whole, readable),
    }
    for name in ("path", "sha256", "bytes", "height", "width", "label", "error"):
        columns[name] = [getattr(row, name) for row in rows]
    schema = part_schema(width)
    table = arrow.table({field.name: columns[field.name] for field in schema}, schema=schema)
    with whole_file(path) as unfinished:
        write_table(table, unfinished)


def vector_column(whole: "np.ndarray", readable: "np.ndarray") -> Any:
    """Return vectors as a column; those that are not readable are null."""
    return arrow.FixedSizeListArray.from_arrays(
        arrow.array(whole.reshape(-1)), whole.shape[1], mask=arrow.array(~readable)
    )


def vectors_of(column: Any, width: int) -> Float16[Tensor, "row feature"]:
    """Return a column of vectors without its nulls."""
    chunks = [chunk.flatten().to_numpy().reshape(-1, width) for chunk in column.chunks]
    found = [torch.from_numpy(chunk.copy()) for chunk in chunks]
    return torch.cat([torch.zeros(0, width, dtype=torch.float16), *found])


def write_table(table: Any, place: Path) -> None:
    """Write a Parquet file; the same rows give the same bytes."""
    with place.open("wb") as file:  # pyarrow takes no path that is not text
        parquet.write_table(
            table,
            file,
            compression="zstd",
            use_dictionary=["split", "error"],
            write_statistics=False,
        )


def stored_table(path: Path, columns: Sequence[str] | None = None) -> Any:
    """Read a Parquet file of a folder of vectors; say what to do with a damaged one."""
    try:
        with path.open("rb") as file:
            return parquet.read_table(file, columns=None if columns is None else list(columns))
    except (arrow.ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # not there, or not ours to read
            raise
        raise ValueError(
            f"vectors: {path} cannot be read; delete it and give the same counterpoint embed "
            "again, which makes it anew"
        ) from error


def as_half(vectors: Float[Tensor, "sample feature"]) -> Float[Tensor, "sample feature"]:
    """Round vectors to fp16, whose relative error is 2^-11 at most; refuse what it cannot hold.

    >>> as_half(torch.tensor([[1e5]]))
    Traceback (most recent call last):
    ValueError: vectors: a value of 100000.0 does not fit into fp16 (65,504 at most); ...
    """
    largest = float(vectors.abs().max()) if vectors.numel() else 0.0
    if not largest <= LARGEST:
        raise ValueError(
            f"vectors: a value of {largest} does not fit into fp16 (65,504 at most); needs an "
            "encoder whose last map is normalised: did its training diverge?"
        )
    return vectors.half()
