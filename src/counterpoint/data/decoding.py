"""Rows of encoded images of one size become images in memory, decoded once and kept."""

from collections.abc import Collection

import numpy as np
import torch

from counterpoint.data.array_source import ArraySource, stood_in
from counterpoint.data.cache import Arrays, cached
from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.formats import FORMATS
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.quarantine import Bad
from counterpoint.data.rows import Rows
from counterpoint.data.source import all_labels
from counterpoint.data.splits import Splits
from counterpoint.progress import tracked

MOST_BYTES = 8 << 30  # decoded: three times STL-10; more stays encoded; our choice


class _NotOneSizeError(Exception):
    """Images that are not one array: they are of several sizes, or too many bytes."""


def in_memory(splits: Splits) -> Splits:
    """Decode splits of Parquet rows if their images are of one size; others stay encoded."""
    parts = [splits.train, splits.validation, splits.test]
    rows = [
        part for part in parts if isinstance(part, EncodedSource) and isinstance(part.store, Rows)
    ]
    if len(rows) < len(parts):
        return splits
    try:
        return Splits(*decoded(rows))
    except _NotOneSizeError:
        for part in rows:
            assert isinstance(part.store, Rows)
            part.store.load()
        return splits


def decoded(parts: list[EncodedSource]) -> list[ArraySource]:
    """Decode parts of Parquet rows; parts of the same rows are decoded once.

    What cannot be decoded, and what is known to be bad, shows another image of its part.
    """
    stores = {id(part.store): part.store for part in parts}
    arrays: dict[int, Arrays] = {}
    for key, rows in stores.items():
        assert isinstance(rows, Rows)
        known = {int(part.places[n]) for part in parts if part.store is rows for n in part.bad}
        arrays[key] = _kept_or_decoded(rows, known)
    if len({found["images"].shape[1:] for found in arrays.values()}) > 1:
        raise _NotOneSizeError
    sources = [_source(part, arrays[id(part.store)]) for part in parts]
    for rows in stores.values():
        assert isinstance(rows, Rows)
        rows.loaded.clear()
    return sources


def _kept_or_decoded(rows: Rows, known: Collection[int]) -> Arrays:
    """Decode all rows but those known to be bad; only what is whole is kept."""
    return cached(rows.files, lambda: _decode(rows, known), keep=not known)


def _decode(rows: Rows, known: Collection[int]) -> Arrays:
    images: np.ndarray | None = None
    bad: list[Bad] = []
    _check_sizes(rows, known)
    what = f"decoding {rows.files[0].name} (kept for the next time)"
    for row in tracked(range(len(rows)), what):
        if row in known:
            continue
        try:
            pixels = rows.stored(row).picture().decode(1.0).numpy()
        except UnreadableImageError as error:
            bad.append(Bad(row, error.kind))
            continue
        images = _room(len(rows), pixels.shape) if images is None else images
        images[row] = pixels
    if images is None:
        kinds = ", ".join(sorted({b.kind for b in bad}))
        raise ValueError(
            f"data: none of the {len(rows):,} images in {rows.files[0]} can be read ({kinds}); "
            f"needs {', '.join(FORMATS)}"
        )
    arrays = {"images": images}
    if bad:
        arrays["bad_rows"] = np.array([b.sample for b in bad])
        arrays["bad_kinds"] = np.array([b.kind for b in bad])
    return arrays


def _check_sizes(rows: Rows, known: Collection[int]) -> None:
    """Look at all headers before a picture is decoded: the last may be of another size."""
    size: tuple[int, int] | None = None
    for row in tracked(range(len(rows)), f"reading the headers of {rows.files[0].name}"):
        if row in known:
            continue
        try:
            picture = rows.stored(row).picture()
        except UnreadableImageError:
            continue
        if size is None:
            size = picture.height, picture.width
            if 3 * len(rows) * picture.height * picture.width > MOST_BYTES:
                raise _NotOneSizeError
        if size != (picture.height, picture.width):
            raise _NotOneSizeError


def _room(count: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.zeros((count, *shape), np.uint8)


def _source(part: EncodedSource, arrays: Arrays) -> ArraySource:
    """Take a part's rows, and put others in the place of the bad ones."""
    images = torch.from_numpy(arrays["images"])
    whole = len(part) == len(images) and torch.equal(part.places, torch.arange(len(images)))
    rows = arrays.get("bad_rows", np.zeros(0, np.int64)).tolist()
    kinds = dict(zip(rows, arrays.get("bad_kinds", np.zeros(0)).tolist(), strict=True))
    found = torch.isin(part.places, torch.tensor([*kinds], dtype=torch.int64))
    samples = found.nonzero().flatten().tolist()
    bad = {**part.bad, **{sample: kinds[int(part.places[sample])] for sample in samples}}
    return stood_in(
        ArraySource(
            part.name,
            images if whole else images[part.places],
            all_labels(part) if part.has_labels else None,
            part.classes,
            dict(sorted(bad.items())),
        )
    )
