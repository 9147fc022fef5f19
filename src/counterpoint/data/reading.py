"""Pictures become images; one that cannot be read is left out, or another stands in for it."""

import math
from collections.abc import Collection
from contextlib import suppress

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.batch import Batch
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.quarantine import Bad, Kind, substitute, substitutes
from counterpoint.data.source import Cut, SampleNumbers, Source, StoredPicture
from counterpoint.framework.permutation import drawn
from counterpoint.framework.records import Cuts, Draw, Index

WAITING = 16 << 20  # bytes of files that are read before they are decoded: 150 photos of ImageNet
TRIED = 64  # files for each that is wanted: more than one in 64 is surely readable
SHOWN = 1 << 22  # pixels: more than a screen has


def read_cuts(source: Source, cut: Cut, draw: Draw) -> tuple[Cuts, list[Bad]]:
    """Read, decode and cut some pictures, and say which could not be read.

    What is drawn for a sample stays its own, whoever stands in for it; so the cuts of the
    others are what they would have been. Memory is bounded, whatever the files are: a few are
    read at a time, and one is decoded at a time.
    """
    chosen = _good(source, draw.index, source.bad)
    bad: list[Bad] = []
    parts: list[Cuts] = []
    first = 0
    while first < len(chosen):
        pictures = _portion(source, chosen[first:])
        last = first + max(1, len(pictures))
        parts += _cut(source, cut, pictures, _some(draw, first, last), bad)
        first = last
    return tuple(torch.cat(views) for views in zip(*parts, strict=True)), bad


def read_own(source: Source, cut: Cut, draw: Draw) -> tuple[Cuts, Index]:
    """Read, decode and cut the pictures that can be read; none stands in for another."""
    good = torch.tensor([s for s in draw.index.tolist() if s not in source.bad]).long()
    read: list[tuple[Cuts, Index]] = []
    first = 0
    while first < len(good):  # a few at a time, as in `read_cuts`
        pictures = _portion(source, good[first:])
        last = first + max(1, len(pictures))
        read += _own(source, cut, pictures, Draw(draw.seed, draw.epoch, good[first:last]))
        first = last
    cuts = tuple(torch.cat(views) for views in zip(*(c for c, _ in read), strict=True))
    return cuts, torch.cat([index for _, index in read]) if read else good[:0]


def _own(
    source: Source, cut: Cut, pictures: list[StoredPicture], draw: Draw
) -> list[tuple[Cuts, Index]]:
    """Cut what was read; where one cannot be decoded, or none was read, those that can be."""
    try:
        if pictures:
            return [(cut(pictures, draw), draw.index)]
    except UnreadableImageError:
        pictures.clear()
    found = []
    for one in (_some(draw, n, n + 1) for n in range(len(draw.index))):
        with suppress(UnreadableImageError):
            found.append((cut([source.stored(int(one.index)).picture()], one), one.index))
    return found


def _portion(source: Source, chosen: SampleNumbers) -> list[StoredPicture]:
    """Read files until enough bytes wait to be decoded, or until one cannot be read."""
    pictures: list[StoredPicture] = []
    waiting = 0
    for sample in chosen.tolist():
        try:
            picture = source.stored(sample).picture()
        except UnreadableImageError:
            break
        waiting += picture.nbytes
        if pictures and waiting > WAITING:
            break  # it is read again: while others are decoded, it may not wait
        pictures.append(picture)
    return pictures


def _cut(
    source: Source, cut: Cut, pictures: list[StoredPicture], draw: Draw, bad: list[Bad]
) -> list[Cuts]:
    """Cut what was read; where one cannot be decoded, or none was read, one by one."""
    try:
        if pictures:
            return [cut(pictures, draw)]
    except UnreadableImageError:
        pictures.clear()
    ones = [_some(draw, n, n + 1) for n in range(len(draw.index))]
    return [_read_one(source, cut, one, bad) for one in ones]


def shown_samples(source: Source, batch: Batch) -> Index:
    """Return the samples that the images of a batch are of: a label belongs to what is seen.

    Who stands in for whom follows from which could not be read, and the batch says that. In memory
    what stands in was put in its place with its label, once, so samples are what they say.

    >>> from counterpoint.data import image_files
    >>> from counterpoint.data.batch import bad_rows
    >>> source = image_files(photos_folder)
    >>> index = torch.tensor([0, 1, 2])
    >>> shown_samples(source, Batch((), index, bad_rows([])))
    tensor([0, 1, 2])
    >>> bool(shown_samples(source, Batch((), index, bad_rows([Bad(1, "empty")])))[1] == 1)
    False
    """
    if not source.decodes:
        return batch.index
    return _good(source, batch.index, {*source.bad, *batch.bad[:, 0].tolist()})


def _good(source: Source, index: Index, bad: Collection[int]) -> Index:
    """Put the first of its substitutes that is not bad in the place of each sample that is."""
    if not bad:
        return index
    count = len(source)
    return torch.tensor(
        [
            substitute(sample, count, readable=lambda other: other not in bad)
            if sample in bad
            else sample
            for sample in index.tolist()
        ],
        dtype=torch.int64,
    )


def _some(draw: Draw, first: int, last: int) -> Draw:
    return Draw(draw.seed, draw.epoch, draw.index[first:last])


def _read_one(source: Source, cut: Cut, draw: Draw, bad: list[Bad]) -> Cuts:
    """Cut one sample, or the first of its substitutes that can be read."""
    sample = int(draw.index)
    last = ""
    for candidate in (sample, *substitutes(sample, len(source))):
        if candidate in source.bad:
            continue
        try:
            return cut([source.stored(candidate).picture()], draw)
        except UnreadableImageError as error:
            bad.append(Bad(candidate, error.kind))
            last = f" (the last one: {error})"  # not the error, whose traceback holds the bytes
    raise ValueError(
        f"data: neither sample {sample} nor any that was drawn to stand in for it can be read; "
        f"counterpoint doctor lists what is broken{last}"
    )


def known_bad(source: Source, samples: Collection[int]) -> dict[int, Kind]:
    """Return what is bad of a source, with some samples more; a header says why, without pixels."""
    new = {sample: _kind(source, sample) for sample in samples if sample not in source.bad}
    return dict(sorted({**source.bad, **new}.items()))


def _kind(source: Source, sample: int) -> Kind:
    try:
        source.stored(sample).picture()
    except UnreadableImageError as error:
        return error.kind
    return "truncated"  # the header is sound, so it is the pixels that are not


def first_readable(
    source: Source, order: Int64[Tensor, " sample"], *, count: int
) -> Int64[Tensor, " chosen"]:
    """Take the first samples in an order that can be decoded: for pictures that people look at."""
    found: list[int] = []
    for sample in order.tolist():
        if len(found) == count:
            break
        if sample in source.bad:
            continue
        try:
            source.stored(sample).picture().decode(0.01)
        except UnreadableImageError:
            continue
        found.append(sample)
    return torch.tensor(found, dtype=torch.int64)


def sample_images(source: Source, count: int, *, seed: int) -> list[Tensor]:
    """Decode some images, drawn from all; each as bytes (channel, height, width).

    >>> from counterpoint.data.array_source import ArraySource
    >>> source = ArraySource("noise", torch.zeros(9, 3, 8, 8, dtype=torch.uint8))
    >>> [tuple(image.shape) for image in sample_images(source, 2, seed=0)]
    [(3, 8, 8), (3, 8, 8)]
    """
    order = drawn(len(source), TRIED * count, seed=seed)
    readable = first_readable(source, order, count=count)
    if not len(readable):
        raise ValueError(f"data: nothing of {source!r} can be read; see counterpoint doctor")
    return [_shown(source.stored(sample).picture()) for sample in readable.tolist()]


def _shown(picture: StoredPicture) -> Tensor:
    """Decode a picture to look at; a large one at a fraction of its size."""
    return picture.decode(min(1.0, math.sqrt(SHOWN / (picture.height * picture.width))))
