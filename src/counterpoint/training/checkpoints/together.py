"""A checkpoint read by all ranks together: each byte is read and hashed by one of them."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.divided_rows import DividedRows, as_distributed, rows_of_rank
from counterpoint.training.checkpoints.encoding import DISTRIBUTED, WHOLE, decode_state, leaf_kinds
from counterpoint.training.checkpoints.hashed import opened_folder
from counterpoint.training.checkpoints.joining import Joined, SharePiece, joined_pieces
from counterpoint.training.checkpoints.manifest import PLAIN, Manifest
from counterpoint.training.checkpoints.talk import Talk
from counterpoint.training.checkpoints.tensors import DTYPES, NAMES
from counterpoint.training.checkpoints.validity import (
    Share,
    has_shares,
    parsed,
    read_checkpoint,
    read_share,
    small_files,
)

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh


def read_together(path: Path, talk: Talk, mesh: "DeviceMesh | None" = None) -> dict[str, Any]:
    """Read a state on all ranks; where one cannot read its part, none has anything.

    Shares are dealt out to the ranks; where one does not see its own, rank 0 reads them all.
    What was read goes to those that need it: whole tensors to everybody, rows to their rank.
    A DTensor comes back as one on the mesh, or whole where there is no mesh.
    """
    if talk.ranks == 1 and mesh is None:
        return read_checkpoint(path)
    manifest, text = _small(path, talk)
    shares, reader = _shares(path, manifest, talk)
    pieces = [
        piece
        for number in range(len(manifest.shares))
        for piece in _pieces(shares.get(number), number, talk, src=reader(number))
    ]
    plain = parsed(text)
    kinds = leaf_kinds(plain)
    leaves: dict[str, Any] = {}
    for name, whole in joined_pieces(pieces).items():
        rows = kinds.get(name, WHOLE) != WHOLE and (kinds[name] != DISTRIBUTED or mesh is not None)
        parts = [(piece, reader(piece.share), _own(shares, piece)) for piece in whole.pieces]
        if not rows:
            leaves[name] = _whole(whole, parts, talk)
            continue
        if not whole.shape:
            raise CheckpointError(f"{PLAIN}: {short(name)} is a number, and stands as rows")
        own = _rows(whole, parts, talk)
        on_mesh = mesh is not None and kinds[name] == DISTRIBUTED
        leaves[name] = as_distributed(own, mesh) if on_mesh and mesh is not None else own
    return decode_state(leaves, plain)


Part = tuple[SharePiece, int, Tensor | None]
"""A piece, the rank that has read it, and on that rank its rows."""


def _small(path: Path, talk: Talk) -> tuple[Manifest, bytes]:
    """Read the small files on rank 0, for all."""
    manifest, text, why = b"", b"", ""
    if talk.rank == 0:
        try:
            with opened_folder(path) as folder:
                found, text = small_files(path, folder, readers=talk.ranks)
                manifest = found.write()
        except CheckpointError as error:
            why = str(error)
    _agree(talk, why)
    return Manifest.read(talk.tell(manifest)), talk.tell(text)


def _shares(path: Path, manifest: Manifest, talk: Talk) -> tuple[dict[int, Share], Any]:
    """Read the shares of this rank; also return which rank reads which."""
    files = list(enumerate(manifest.tensors.items()))
    mine = files[talk.rank :: talk.ranks]
    here = False
    with suppress(CheckpointError), opened_folder(path) as folder:
        here = has_shares(folder, dict(item for _, item in mine))
    alone = bool(talk.failure("" if here else "not here"))
    if alone:
        mine = files if talk.rank == 0 else []
    found: dict[int, Share] = {}
    why = ""
    try:
        if mine:
            with opened_folder(path) as folder:
                found = {n: read_share(name, folder, stored) for n, (name, stored) in mine}
    except CheckpointError as error:
        why = str(error)
    _agree(talk, why)
    return found, lambda number: 0 if alone else number % talk.ranks


def _agree(talk: Talk, why: str) -> None:
    """Refuse a checkpoint on all ranks where one of them has to."""
    if said := talk.failure(why):
        raise CheckpointError(said)


def _pieces(share: Share | None, number: int, talk: Talk, *, src: int) -> Iterator[SharePiece]:
    """Tell all ranks what a share holds."""
    table = [] if share is None else share.entries
    said = json.dumps([(e.name, NAMES[e.dtype], e.shape) for e in table]).encode()
    for name, dtype, shape in json.loads(talk.tell(said, src=src)):
        yield SharePiece(name, number, DTYPES[dtype], tuple(shape))


def _own(shares: dict[int, Share], piece: SharePiece) -> Tensor | None:
    share = shares.get(piece.share)
    return None if share is None else share.tensors.pop(piece.name)


def _whole(whole: Joined, parts: list[Part], talk: Talk) -> Tensor:
    """Bring a whole tensor to every rank; one of a single piece is not copied."""
    if len(parts) == 1 and parts[0][2] is not None:
        room = parts[0][2]
    else:
        room = torch.empty(whole.shape, dtype=whole.dtype)
    if len(parts) == 1:
        talk.send(room, src=parts[0][1])
        return room
    start = 0
    for piece, src, own in parts:
        there = room[start : start + piece.rows]
        start += piece.rows
        if own is not None:
            there.copy_(own)
        talk.send(there, src=src)
    return room


def _rows(whole: Joined, parts: list[Part], talk: Talk) -> DividedRows:
    """Bring the rows of each rank to it; a piece that only its reader needs is not sent."""
    length = whole.shape[0]
    mine = rows_of_rank(length, talk.rank, talk.ranks)
    room = torch.empty((len(mine), *whole.shape[1:]), dtype=whole.dtype)
    each = -(-length // talk.ranks) or 1
    start = 0
    for piece, src, own in parts:
        stop = start + piece.rows
        if piece.rows and not start // each == (stop - 1) // each == src:
            own = torch.empty(piece.shape, dtype=piece.dtype) if own is None else own
            talk.send(own, src=src)
        first, last = max(start, mine.start), min(stop, mine.stop)
        if own is not None and first < last:
            room[first - mine.start : last - mine.start] = own[first - start : last - start]
        start = stop
    return DividedRows(room, mine.start, length)
