"""Tensors of which each share has some rows: put below each other, in the order of the shares."""

from collections.abc import Iterable
from dataclasses import dataclass
from reprlib import repr as short

import torch

from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.tensors import Entry


@dataclass(frozen=True, slots=True)
class SharePiece:
    """Rows of a tensor as one share has them."""

    name: str
    share: int
    dtype: torch.dtype
    shape: tuple[int, ...]

    @classmethod
    def of(cls, entry: Entry, share: int) -> "SharePiece":
        """Name an entry of a header by its share."""
        return cls(entry.name, share, entry.dtype, entry.shape)

    @property
    def rows(self) -> int:
        """How many rows there are; a number has one."""
        return self.shape[0] if self.shape else 1


@dataclass(frozen=True, slots=True)
class Joined:
    """A whole tensor, and the pieces that it is made of."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    pieces: tuple[SharePiece, ...]


def joined_pieces(pieces: Iterable[SharePiece]) -> dict[str, Joined]:
    """Put pieces with one name below each other, in the order in which they come.

    >>> two = [SharePiece("bank", share, torch.int8, (3, 2)) for share in (0, 1)]
    >>> joined_pieces(two)["bank"].shape
    (6, 2)
    """
    found: dict[str, list[SharePiece]] = {}
    for piece in pieces:
        found.setdefault(piece.name, []).append(piece)
    return {name: _joined(name, parts) for name, parts in found.items()}


def _joined(name: str, parts: list[SharePiece]) -> Joined:
    first = parts[0]
    if len(parts) == 1:
        return Joined(first.dtype, first.shape, (first,))
    for other in parts:
        if not other.shape or (other.dtype, other.shape[1:]) != (first.dtype, first.shape[1:]):
            raise CheckpointError(
                f"{short(name)}: its pieces do not fit below each other: {first.dtype} "
                f"{first.shape} and {other.dtype} {other.shape}"
            )
    rows = sum(part.rows for part in parts)
    return Joined(first.dtype, (rows, *first.shape[1:]), tuple(parts))
