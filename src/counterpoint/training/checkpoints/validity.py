"""Whether a checkpoint can be used, and what it holds; both trust nothing in the folder."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from counterpoint.framework.codec import Json, from_text
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.divided_rows import DividedRows
from counterpoint.training.checkpoints.encoding import ROWS, decode_state, leaf_kinds
from counterpoint.training.checkpoints.hashed import HashedFile, opened_file, opened_folder
from counterpoint.training.checkpoints.joining import SharePiece, joined_pieces
from counterpoint.training.checkpoints.manifest import MANIFEST, PLAIN, Manifest, Stored
from counterpoint.training.checkpoints.step_names import step_of
from counterpoint.training.checkpoints.tensors import Entry, entries, header_length, raw

MOST = {MANIFEST: 1 << 20, PLAIN: 4 << 20}
"""Bytes that are parsed as JSON at most: hostile JSON takes forty times its size in memory."""


def problem(path: Path) -> str | None:
    """Say why a checkpoint cannot be used; None when it can.

    >>> problem(Path("no-such-folder"))
    'the folder cannot be read (ENOENT: No such file or directory)'
    """
    try:
        with opened_folder(path) as folder:
            manifest, plain = small_files(path, folder)
            pieces: list[SharePiece] = []
            for number, (name, stored) in enumerate(manifest.tensors.items()):
                with _tensor_file(name, folder, stored) as (file, _, found):
                    pieces += [SharePiece.of(entry, number) for entry in found]
                    file.skip(found[-1].stop if found else 0)
                    file.compare(stored.sha256)
            decode_state(dict.fromkeys(joined_pieces(pieces), _NOTHING), parsed(plain))
    except CheckpointError as error:
        return str(error)
    return None


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read a state whose every byte is as it was written.

    The bytes that become tensors are those that were hashed: no one can change them in between.
    """
    with opened_folder(path) as folder:
        manifest, text = small_files(path, folder)
        parts: dict[str, list[Tensor]] = {}
        pieces: list[SharePiece] = []
        for number, (name, stored) in enumerate(manifest.tensors.items()):
            share = read_share(name, folder, stored)
            pieces += [SharePiece.of(entry, number) for entry in share.entries]
            for entry in share.entries:
                parts.setdefault(entry.name, []).append(share.tensors.pop(entry.name))
    plain = parsed(text)
    kinds = leaf_kinds(plain)
    leaves: dict[str, Tensor | DividedRows] = {}
    for name in joined_pieces(pieces):
        found = parts.pop(name)
        tensor = found[0] if len(found) == 1 else torch.cat(found)
        rows = kinds.get(name) == ROWS and tensor.ndim > 0
        leaves[name] = DividedRows(tensor, 0, len(tensor)) if rows else tensor
    return decode_state(leaves, plain)


def described(path: Path) -> dict[str, Any]:
    """Read what a state says besides its tensors, which are empty: only small files are read."""
    with opened_folder(path) as folder:
        plain = parsed(small_files(path, folder, readers=None)[1])
    return decode_state(dict.fromkeys(leaf_kinds(plain), _NOTHING), plain)


def looks_whole(path: Path) -> bool:
    """Whether the manifest can be read and the files have their lengths; nothing is hashed."""
    try:
        with opened_folder(path) as folder:
            for name, stored in _manifest(path, folder).files.items():
                with _file(name, folder, stored):
                    continue
    except CheckpointError:
        return False
    return True


_NOTHING = torch.empty(0)


class Share:
    """The file of a rank in memory: its header, and the tensors in its order."""

    def __init__(self, header: bytes, found: tuple[Entry, ...], tensors: dict[str, Tensor]) -> None:
        self.header, self.entries, self.tensors = header, found, tensors


def read_share(name: str, folder: int, stored: Stored) -> Share:
    """Read one file of tensors, and hash it on the way."""
    with _tensor_file(name, folder, stored) as (file, header, found):
        tensors = {entry.name: _filled(entry, file) for entry in found}
        file.compare(stored.sha256)
    return Share(header, found, tensors)


def has_shares(folder: int, shares: Mapping[str, Stored]) -> bool:
    """Whether these files are there with their lengths."""
    try:
        for name, stored in shares.items():
            with _file(name, folder, stored):
                continue
    except CheckpointError:
        return False
    return True


def small_files(path: Path, folder: int, *, readers: int | None = 1) -> tuple[Manifest, bytes]:
    """Read the manifest and the text of the plain state, which is as it was written.

    The tensors must fit into the memory of those who read them together; None reads none of them.
    """
    manifest = _manifest(path, folder)
    total, memory = sum(stored.bytes for stored in manifest.shares), _memory() * (readers or 1)
    # Files with holes claim any length and take no space.
    if readers is not None and total > memory:
        raise CheckpointError(f"{MANIFEST}: tensors of {total} bytes, more than {memory} of memory")
    with _file(PLAIN, folder, manifest.plain) as file:
        text = file.take(file.size)
        file.compare(manifest.plain.sha256)
    return manifest, text


def parsed(text: bytes) -> Json:
    """Parse the plain state."""
    try:
        return from_text(text.decode())
    except ValueError as error:
        raise CheckpointError(f"{PLAIN}: is not valid JSON ({error})") from error


def _manifest(path: Path, folder: int) -> Manifest:
    with opened_file(MANIFEST, folder, most=MOST[MANIFEST]) as file:
        manifest = Manifest.read(file.take(file.size))
    step = step_of(path.name)
    if step is not None and step != manifest.step:
        raise CheckpointError(f"{MANIFEST}: is of step {manifest.step}, the folder of {step}")
    return manifest


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def _file(name: str, folder: int, stored: Stored) -> Iterator[HashedFile]:
    with opened_file(name, folder, most=MOST.get(name, _memory())) as file:
        if file.size != stored.bytes:
            raise CheckpointError(f"{name}: has {file.size} bytes, was written with {stored.bytes}")
        yield file


@contextmanager
def _tensor_file(
    name: str, folder: int, stored: Stored
) -> Iterator[tuple[HashedFile, bytes, tuple[Entry, ...]]]:
    """Open a file of tensors and read its header; the data is still to be read."""
    with _file(name, folder, stored) as file:
        length = header_length(file.take(min(8, file.size)), size=file.size, file=name)
        header = file.take(length)
        yield file, header, entries(header, size=file.size - 8 - length, file=name)


def _filled(entry: Entry, file: HashedFile) -> Tensor:
    try:
        tensor = entry.empty()
    except RuntimeError as error:  # torch's word for no memory
        size = entry.stop - entry.start
        raise CheckpointError(f"{file.name}: no memory for a tensor of {size} bytes") from error
    file.fill(raw(tensor))
    return tensor
