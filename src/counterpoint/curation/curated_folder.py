"""The folder that `counterpoint curate` writes: lists, a page, and links to what is kept."""

import csv
import os
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet

from counterpoint.curation.curator import Curation
from counterpoint.curation.decisions import LEAVE_OUT, Decision, counts
from counterpoint.curation.picture_groups import curation_page
from counterpoint.data.location import refuse_inside
from counterpoint.progress import tracked
from counterpoint.vectors import Vectors
from counterpoint.version import versions
from counterpoint.whole_file import write_json

RECORD, TABLE, PARQUET = "curate.json", "decisions.csv", "decisions.parquet"
PAGE, IMAGES = "gallery.html", "images"
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("sample", "group", "duplicate_of"), arrow.int64()),
    **dict.fromkeys(("split", "path", "decision", "reasons", "label"), arrow.string()),
    "looks_like": arrow.string(),
    **dict.fromkeys(("distance", "confidence", "closeness", "doubt"), arrow.float64()),
}


def write_curated(found: Curation, rows: Sequence[Decision], out: Path) -> int:
    """Write all files, and return the number of links; images are neither moved nor deleted.

    A folder that an earlier call wrote is written again: its links are replaced.
    """
    refuse_foreign(found.vectors, out)
    out.mkdir(parents=True, exist_ok=True)
    (out / RECORD).unlink(missing_ok=True)  # of what is about to be replaced
    names = [field.name for field in fields(Decision)]
    with (out / TABLE).open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, names)
        table.writeheader()
        table.writerows(asdict(row) for row in rows)
    schema = arrow.schema([(name, COLUMNS[name]) for name in names])
    columns = {name: [getattr(row, name) for row in rows] for name in names}
    with (out / PARQUET).open("wb") as binary:  # pyarrow takes no path that is not text
        parquet.write_table(arrow.table(columns, schema=schema), binary)
    (out / PAGE).write_text(curation_page(found, rows), encoding="utf-8")
    links = _link(found, rows, out / IMAGES)
    record = {**curation_record(found, rows), "links": links, "versions": versions()}
    write_json(out / RECORD, record)
    return links


def refuse_foreign(vectors: Vectors, out: Path) -> None:
    """Refuse a folder among the images, or with anything but what an earlier call wrote."""
    refuse_inside(vectors.record.data["path"], out)
    if not out.is_dir() or (out / RECORD).is_file():
        return
    names = {place.name for place in out.iterdir() if not place.name.startswith(".")}
    interrupted = TABLE in names and names <= {TABLE, PARQUET, PAGE, IMAGES}
    if names and not interrupted:
        raise ValueError(
            f"out: {out} is not empty and was not written by curate; needs a new or an empty folder"
        )


def curation_record(found: Curation, rows: Sequence[Decision]) -> dict[str, Any]:
    """Return what was found, as plain data."""
    positives, threshold = found.positives, found.threshold
    return {
        "format": 1,
        "vectors": str(found.vectors.folder),
        "encoder": found.vectors.record.encoder,
        "images": found.vectors.record.count,
        "unreadable": len(found.vectors.unreadable),
        "decisions": counts(list(rows)),
        "equal_files": len(found.equal),
        "near_duplicates": {
            "pairs": threshold.found,
            "precision": threshold.precision,
            "interval": [threshold.low, threshold.high],
            "expected_false": threshold.chance,
            "radius": threshold.radius,
            "look_radius": threshold.look,
            "dimension": found.dimension,
            "recall_of_copies": None if positives is None else positives.recall(threshold.radius),
            "copies_in_cells": None if positives is None else float(positives.looked.mean()),
        },
        "leaks": len(found.leaks),
        "outliers": int(found.outliers.sum()),
        "outlier_cut": found.odd,
        "suspect_labels": None if found.verdicts is None else len(found.suspects),
        "selected": None if found.chosen is None else int(found.chosen.sum()),
        "cost": found.cost,
    }


def _link(found: Curation, rows: Sequence[Decision], folder: Path) -> int:
    """Link to the files that are not left out, under the same names; count the links."""
    for old in folder.rglob("*") if folder.is_dir() else ():
        if old.is_symlink():
            old.unlink()
    stay = [row for row in rows if row.decision != LEAVE_OUT and row.path is not None]
    shared, count = _shared_folder(found.vectors.paths), 0
    for row in tracked(stay, "linking images"):
        source = found.vectors.file(row.sample)
        path = Path(row.path or "")
        place = folder / (path.relative_to(shared) if path.is_absolute() else path)
        if source is None or not place.resolve().is_relative_to(folder.resolve()):
            continue  # rows of a Parquet file, or files that are not there any more
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(source.resolve())
        count += 1
    return count


def _shared_folder(paths: Sequence[str | None]) -> Path:
    """Return the folder of all whole paths, which images given as a value have.

    >>> _shared_folder(["/photos/cat/1.jpg", "/photos/dog/1.jpg", None]).as_posix()
    '/photos'
    """
    whole = [str(Path(path).parent) for path in paths if path is not None and path[:1] == "/"]
    return Path(os.path.commonpath(whole or ["/"]))
