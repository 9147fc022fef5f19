"""Files become images; one that cannot be read is set aside and another stands in for it."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.files import Files
from counterpoint.data.pictures import FilePicture, UnreadableImageError
from counterpoint.data.quarantine import Bad, substitute, substitutes
from counterpoint.framework.records import Cuts, Draw, Picture

Cut = Callable[[Sequence[Picture], Draw], Cuts]
"""How files become images of one size: `cut` of the views."""

WAITING = 16 << 20  # bytes of files that are read before they are decoded: 150 photos of ImageNet


def read_cuts(files: Files, cut: Cut, draw: Draw) -> tuple[Cuts, list[Bad]]:
    """Read, decode and cut some files, and say which could not be read.

    What is drawn for a sample stays its own, whoever stands in for it; so the cuts of the
    others are what they would have been. Memory is bounded, whatever the files are: a few are
    read at a time, and one is decoded at a time.
    """
    chosen = draw.index
    if files.bad:
        chosen = torch.tensor([_known_good(files, sample) for sample in draw.index.tolist()])
    bad: list[Bad] = []
    parts: list[Cuts] = []
    first = 0
    while first < len(chosen):
        pictures = _portion(files, chosen[first:])
        last = first + max(1, len(pictures))
        parts += _cut(files, cut, pictures, _some(draw, first, last), bad)
        first = last
    return tuple(torch.cat(views) for views in zip(*parts, strict=True)), bad


def _portion(files: Files, chosen: Int64[Tensor, " left"]) -> list[FilePicture]:
    """Read files until enough bytes wait to be decoded, or until one cannot be read."""
    pictures: list[FilePicture] = []
    waiting = 0
    for one in chosen.split(1):
        try:
            (picture,) = files.pictures(one)
        except UnreadableImageError:
            break
        waiting += len(picture.data)
        if pictures and waiting > WAITING:
            break  # it is read again: while others are decoded, it may not wait
        pictures.append(picture)
    return pictures


def _cut(
    files: Files, cut: Cut, pictures: list[FilePicture], draw: Draw, bad: list[Bad]
) -> list[Cuts]:
    """Cut what was read; where one cannot be decoded, or none was read, one by one."""
    try:
        if pictures:
            return [cut(pictures, draw)]
    except UnreadableImageError:
        pictures.clear()
    ones = [_some(draw, n, n + 1) for n in range(len(draw.index))]
    return [_read_one(files, cut, one, bad) for one in ones]


def first_readable(
    files: Files, order: Int64[Tensor, " sample"], *, count: int
) -> Int64[Tensor, " chosen"]:
    """Take the first samples in an order that can be decoded: for pictures that people look at."""
    found: list[int] = []
    for sample in order.tolist():
        if len(found) == count:
            break
        try:
            (picture,) = files.pictures(torch.tensor([sample]))
            picture.decode(0.01)
        except UnreadableImageError:
            continue
        found.append(sample)
    return torch.tensor(found, dtype=torch.int64)


def _known_good(files: Files, sample: int) -> int:
    if sample not in files.bad:
        return sample
    return substitute(sample, len(files), readable=lambda other: other not in files.bad)


def _some(draw: Draw, first: int, last: int) -> Draw:
    return Draw(draw.seed, draw.epoch, draw.index[first:last])


def _read_one(files: Files, cut: Cut, draw: Draw, bad: list[Bad]) -> Cuts:
    """Cut one sample, or the first of its substitutes that can be read."""
    sample = int(draw.index)
    for candidate in (sample, *substitutes(sample, len(files))):
        if candidate in files.bad:
            continue
        try:
            return cut(files.pictures(torch.tensor([candidate])), draw)
        except UnreadableImageError as error:
            bad.append(Bad(candidate, error.kind))
    raise ValueError(
        f"data: neither sample {sample} nor any that was drawn to stand in for it can be read; "
        "counterpoint doctor lists what is broken"
    )
