"""Whether a checkpoint can be used, and what it holds; both trust nothing in the folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from counterpoint.framework.codec import Json, from_text
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.encoding import decode_state
from counterpoint.training.checkpoints.hashed import HashedFile, opened_file, opened_folder
from counterpoint.training.checkpoints.manifest import MANIFEST, PLAIN, TENSORS, Manifest, Stored
from counterpoint.training.checkpoints.step_names import step_of
from counterpoint.training.checkpoints.tensors import Entry, entries, header_length, raw

MOST = {MANIFEST: 64 << 10, PLAIN: 4 << 20}
"""Bytes that are parsed as JSON at most: hostile JSON takes forty times its size in memory."""


def problem(path: Path) -> str | None:
    """Say why a checkpoint cannot be used; None when it can.

    >>> problem(Path("no-such-folder"))
    'the folder cannot be read (ENOENT: No such file or directory)'
    """
    try:
        with opened_folder(path) as folder:
            manifest = _manifest(path, folder)
            plain = _plain(folder, manifest.plain)
            with _tensor_file(folder, manifest.tensors) as (file, found):
                decode_state({entry.name: _NOTHING for entry in found}, plain)
                file.skip(found[-1].stop if found else 0)
                file.compare(manifest.tensors.sha256)
    except CheckpointError as error:
        return str(error)
    return None


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read a state whose every byte is as it was written.

    The bytes that become tensors are those that were hashed: no one can change them in between.
    """
    with opened_folder(path) as folder:
        manifest = _manifest(path, folder)
        plain = _plain(folder, manifest.plain)
        with _tensor_file(folder, manifest.tensors) as (file, found):
            tensors = {entry.name: _filled(entry, file) for entry in found}
            file.compare(manifest.tensors.sha256)
    return decode_state(tensors, plain)


def described(path: Path) -> dict[str, Any]:
    """Read what a state says besides its tensors, which are empty: only small files are hashed."""
    with opened_folder(path) as folder:
        manifest = _manifest(path, folder)
        plain = _plain(folder, manifest.plain)
        with _tensor_file(folder, manifest.tensors) as (_, found):
            return decode_state({entry.name: _NOTHING for entry in found}, plain)


def looks_whole(path: Path) -> bool:
    """Whether the manifest can be read and the files have their lengths; nothing is hashed."""
    try:
        with opened_folder(path) as folder:
            manifest = _manifest(path, folder)
            with (
                _file(PLAIN, folder, manifest.plain),
                _file(TENSORS, folder, manifest.tensors),
            ):
                return True
    except CheckpointError:
        return False


_NOTHING = torch.empty(0)


def _manifest(path: Path, folder: int) -> Manifest:
    with opened_file(MANIFEST, folder, most=MOST[MANIFEST]) as file:
        manifest = Manifest.read(file.take(file.size))
    step = step_of(path.name)
    if step is not None and step != manifest.step:
        raise CheckpointError(f"{MANIFEST}: is of step {manifest.step}, the folder of {step}")
    return manifest


@contextmanager
def _file(name: str, folder: int, stored: Stored) -> Iterator[HashedFile]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    # A file with holes claims any length and takes no space.
    with opened_file(name, folder, most=MOST.get(name, memory)) as file:
        if file.size != stored.bytes:
            raise CheckpointError(f"{name}: has {file.size} bytes, was written with {stored.bytes}")
        yield file


def _plain(folder: int, stored: Stored) -> Json:
    with _file(PLAIN, folder, stored) as file:
        text = file.take(file.size)
        file.compare(stored.sha256)
    try:
        return from_text(text.decode())
    except ValueError as error:
        raise CheckpointError(f"{PLAIN}: is not valid JSON ({error})") from error


@contextmanager
def _tensor_file(folder: int, stored: Stored) -> Iterator[tuple[HashedFile, tuple[Entry, ...]]]:
    """Open the tensors and read their header; the data is still to be read."""
    with _file(TENSORS, folder, stored) as file:
        length = header_length(file.take(min(8, file.size)), size=file.size)
        yield file, entries(file.take(length), size=file.size - 8 - length)


def _filled(entry: Entry, file: HashedFile) -> Tensor:
    try:
        tensor = entry.empty()
    except RuntimeError as error:  # torch's word for no memory
        size = entry.stop - entry.start
        raise CheckpointError(f"{TENSORS}: no memory for a tensor of {size} bytes") from error
    file.fill(raw(tensor))
    return tensor
