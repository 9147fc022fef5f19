"""Which images these are: what a copy of them keeps, and an edit changes."""

import hashlib

from torch import Tensor

from counterpoint.data.files import Files
from counterpoint.data.source import Source

BYTES = 1 << 26  # of images at a time: those on disk are never in memory together
FORM = "files2"  # the first had sixteen digits of names, sizes and times


def fingerprint(source: Source | Files) -> str:
    """Know images in memory by their bytes, files by names, sizes and a sample of their content.

    No time is in it, so that a copy of the files is the same data; docs/decisions says what the
    sample can miss. The fingerprint of files has five parts, so that `difference` can say what
    changed: the form, the number of images, and digests of names and sizes, of content, of labels.

    >>> import torch
    >>> blank = Source("blank", torch.zeros(2, 3, 4, 4, dtype=torch.uint8))
    >>> fingerprint(blank)
    '977965a17bfd2ece'
    """
    if isinstance(source, Files):
        known = source.store.identity()
        listed = _digest(known.files, source.places)
        labels = "none" if source.labels is None else _digest(b"", source.labels)
        return f"{FORM}-{len(source)}-{listed}-{known.content.hex()[:16]}-{labels}"
    digest = hashlib.blake2b(digest_size=8)
    digest.update(str(tuple(source.images.shape)).encode())
    many = max(1, BYTES // max(1, source.images[:1].numel()))
    for images in source.images.split(many):
        digest.update(images.contiguous().numpy().data)
    if source.labels is not None:
        digest.update(source.labels.contiguous().numpy().data)
    return digest.hexdigest()


def fingerprint_difference(was: str, now: str) -> str:
    """Say in words how two fingerprints differ; nothing if they do not.

    >>> fingerprint_difference("files2-8-aa-bb-none", "files2-9-ab-bb-none")
    'it had 8 images and has 9'
    >>> fingerprint_difference("files2-8-aa-bb-none", "files2-8-aa-cc-none")
    'the content of files changed, though their names and sizes did not'
    >>> fingerprint_difference("977965a17bfd2ece", "files2-8-aa-bb-none")
    'it was noted by an earlier version, by the times of files, and cannot be compared'
    """
    if was == now:
        return ""
    before, after = was.split("-"), now.split("-")
    if len(before) != 5 and len(after) == 5:
        return "it was noted by an earlier version, by the times of files, and cannot be compared"
    if len(before) != 5 or len(after) != 5:
        return "its images or labels are others"
    if before[0] != after[0]:
        return "it was noted by another version and cannot be compared"
    if before[1] != after[1]:
        return f"it had {int(before[1]):,} images and has {int(after[1]):,}"
    if before[2] != after[2]:
        return "files were renamed, replaced or changed in size"
    if before[3] != after[3]:
        return "the content of files changed, though their names and sizes did not"
    return "the labels are others"


def _digest(known: bytes, numbers: Tensor) -> str:
    digest = hashlib.blake2b(known, digest_size=8)
    digest.update(numbers.contiguous().numpy().data)
    return digest.hexdigest()
