"""Which rows of which tensors a rank writes: arithmetic, so that the ranks need not talk."""

import re
from collections.abc import Callable, Mapping

from torch import Tensor

from counterpoint.training.checkpoints.divided_rows import DividedRows

Leaf = Tensor | DividedRows
"""A tensor that all ranks have, or rows of one that is divided over them."""


def share_name(rank: int, ranks: int) -> str:
    """Name the file of a rank.

    >>> share_name(2, 4)
    'share-00002-of-00004.safetensors'
    """
    return f"share-{rank:05d}-of-{ranks:05d}.safetensors"


def shares_of(name: str) -> list[str]:
    """List the files of all ranks, by the name of one; none where it is not such a name.

    >>> shares_of("share-00001-of-00002.safetensors")
    ['share-00000-of-00002.safetensors', 'share-00001-of-00002.safetensors']
    """
    found = re.fullmatch(r"share-[0-9]{5}-of-([0-9]{5})\.safetensors", name)
    return [share_name(rank, int(found[1])) for rank in range(int(found[1]))] if found else []


def leaf_bytes(leaf: Leaf) -> int:
    """Return the bytes of a whole tensor, also where this rank has rows of it."""
    if isinstance(leaf, Tensor):
        return leaf.nbytes
    return leaf.length * _row_bytes(leaf.own)


def own_share(
    leaves: Mapping[str, Leaf], *, rank: int, ranks: int, alike: Callable[[str], bool]
) -> dict[str, Tensor]:
    """Return what a rank writes, as views: its own rows, and its part of what all ranks have.

    Tensors that are `alike` on all ranks stand in a line of T bytes; rank r writes the rows that
    begin in bytes r T / W to (r + 1) T / W. Of others, which may differ, those of rank 0 count.

    >>> import torch
    >>> leaves = {"a": torch.zeros(3, dtype=torch.uint8), "b": torch.zeros(5, dtype=torch.uint8)}
    >>> [[*own_share(leaves, rank=r, ranks=2, alike=lambda _: True)] for r in (0, 1)]
    [['a', 'b'], ['b']]
    """
    total = sum(leaf_bytes(leaf) for name, leaf in leaves.items() if _divided(name, leaf, alike))
    low, high = total * rank // ranks, total * (rank + 1) // ranks
    found: dict[str, Tensor] = {}
    place = 0
    for name, leaf in leaves.items():
        if isinstance(leaf, DividedRows):
            if len(leaf.own) or leaf.length == rank == 0:
                found[name] = leaf.own
        elif _divided(name, leaf, alike):
            rows = _rows_in(place, leaf, low, high)
            place += leaf.nbytes
            if len(rows):
                found[name] = leaf if leaf.ndim == 0 else leaf[rows.start : rows.stop]
        elif rank == 0:
            found[name] = leaf
    return found


def _divided(name: str, leaf: Leaf, alike: Callable[[str], bool]) -> bool:
    return isinstance(leaf, Tensor) and leaf.nbytes > 0 and alike(name)


def _rows_in(place: int, tensor: Tensor, low: int, high: int) -> range:
    """Return the rows of a tensor at byte `place` of the line whose first byte is in a window."""
    width, count = _row_bytes(tensor), len(tensor) if tensor.ndim else 1
    first, last = (min(max(-(-(edge - place) // width), 0), count) for edge in (low, high))
    return range(first, last)


def _row_bytes(tensor: Tensor) -> int:
    width = tensor.itemsize
    for side in tensor.shape[1:]:
        width *= side
    return width
