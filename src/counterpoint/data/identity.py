"""What files are known by: all names and sizes, and the content of some."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import torch

from counterpoint.framework.permutation import Permutation

FILES = 256  # files whose content is looked at; where there are no more, that is all of them
BLOCK = 1 << 16  # bytes
BLOCKS = 4  # of a file: its beginning, its end, and two between; a photo of 256 kB is all of it
SAMPLE = 0x73616D706C65  # "sample": which files and blocks, the same for everyone


class Identity(NamedTuple):
    """Two digests."""

    files: bytes
    """Of names and sizes."""
    content: bytes


def sampled_places(count: int) -> list[int]:
    """Choose the files whose content is looked at.

    >>> sampled_places(3), len(sampled_places(1_000_000))
    ([0, 1, 2], 256)
    """
    places = torch.arange(min(count, FILES))
    return Permutation(max(1, count), SAMPLE, 0)(places).sort().values.tolist()


def content_of(paths: Iterable[Path]) -> bytes:
    """Digest the content of some files; what cannot be read is known as that."""
    digest = hashlib.blake2b(digest_size=32)
    for path in paths:
        try:
            digest.update(_blocks(path))
        except OSError:
            digest.update(b"unreadable")
    return digest.digest()


def _blocks(path: Path) -> bytes:
    """Digest a short file as a whole, of a long one its blocks."""
    digest = hashlib.blake2b(digest_size=32)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= BLOCK * BLOCKS:
            digest.update(file.read(BLOCK * BLOCKS))
        else:
            for number in range(BLOCKS):
                file.seek((size - BLOCK) * number // (BLOCKS - 1))
                digest.update(file.read(BLOCK))
    return digest.digest()
