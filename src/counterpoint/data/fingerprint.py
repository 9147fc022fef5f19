"""Which images these are, in sixteen digits."""

import hashlib

from counterpoint.data.files import Files
from counterpoint.data.source import Source

CHUNK = 10_000  # files at a time: a million names are never in memory together
BYTES = 1 << 26  # of images at a time: those on disk are never in memory together


def fingerprint(source: Source | Files) -> str:
    """Hash images in memory by their bytes, files by name, size and time of change.

    >>> import torch
    >>> blank = Source("blank", torch.zeros(2, 3, 4, 4, dtype=torch.uint8))
    >>> fingerprint(blank)
    '977965a17bfd2ece'
    """
    digest = hashlib.blake2b(digest_size=8)
    if isinstance(source, Files):
        for some in source.places.split(CHUNK):
            digest.update(b"".join(source.store.known(some)))
    else:
        digest.update(str(tuple(source.images.shape)).encode())
        many = max(1, BYTES // max(1, source.images[:1].numel()))
        for images in source.images.split(many):
            digest.update(images.contiguous().numpy().data)
    if source.labels is not None:
        digest.update(source.labels.contiguous().numpy().data)
    return digest.hexdigest()
