"""What was found, as plain data: for JSON, for the table and for the gallery."""

import os
from typing import Any

from counterpoint.data.packed_names import shown
from counterpoint.search.nearest_vectors import Nearest
from counterpoint.search.query_words import Query
from counterpoint.vectors import Vectors


def found_records(
    vectors: Vectors, asked: tuple[Query, ...], nearest: Nearest
) -> list[dict[str, Any]]:
    """List for each query what was found, nearest first."""
    rows, cosines = nearest.rows.tolist(), nearest.cosines.tolist()
    return [
        {
            "query": shown(os.fsencode(query.word)),
            "sample": int(vectors.samples[query.row]) if query.row >= 0 else None,
            "found": [
                row_record(vectors, row) | {"cosine": round(cosine, 6)}
                for row, cosine in zip(near, close, strict=True)
                if row >= 0
            ],
        }
        for query, near, close in zip(asked, rows, cosines, strict=True)
    ]


def row_record(vectors: Vectors, row: int) -> dict[str, Any]:
    """Describe an image of the folder."""
    sample = int(vectors.samples[row])
    found = -1 if vectors.labels is None else int(vectors.labels[row])
    label = None if found < 0 else found
    named = label is not None and vectors.classes is not None and label < len(vectors.classes)
    return {
        "sample": sample,
        "path": vectors.paths[row],
        "file": vectors.full_path(sample),
        "split": vectors.splits[row],
        "label": vectors.classes[label]
        if named and vectors.classes and label is not None
        else label,
    }
