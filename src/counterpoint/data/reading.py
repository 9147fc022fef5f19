"""Files become images; one that cannot be read is set aside and another stands in for it."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.files import Files
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.quarantine import Bad, substitute, substitutes
from counterpoint.framework.records import Draw, Images, Picture

Cut = Callable[[Sequence[Picture], Draw], tuple[Images, ...]]
"""How files become images of one size: `cut` of the views."""


def read_cuts(files: Files, cut: Cut, draw: Draw) -> tuple[tuple[Images, ...], list[Bad]]:
    """Read, decode and cut some files, and say which could not be read.

    What is drawn for a sample stays its own, whoever stands in for it; so the cuts of the
    others are what they would have been.
    """
    chosen = draw.index
    if files.bad:
        chosen = torch.tensor([_known_good(files, sample) for sample in draw.index.tolist()])
    try:
        return cut(files.pictures(chosen), draw), []
    except UnreadableImageError:  # rare: find out which, one by one
        bad: list[Bad] = []
        ones = [_read_one(files, cut, one, bad) for one in _each(draw)]
        return tuple(torch.cat(parts) for parts in zip(*ones, strict=True)), bad


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


def _each(draw: Draw) -> list[Draw]:
    return [Draw(draw.seed, draw.epoch, one) for one in draw.index.split(1)]


def _read_one(files: Files, cut: Cut, draw: Draw, bad: list[Bad]) -> tuple[Images, ...]:
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
