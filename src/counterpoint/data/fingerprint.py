"""Which images these are: what a copy of them keeps, and an edit changes."""

import hashlib

from jaxtyping import Int64, UInt8
from torch import Tensor

from counterpoint.data.identity import Identity

BYTES = 1 << 26  # of images at a time: those on disk are never in memory together
FORMS = {
    "files": "files2",
    "parquet": "files2",
    "dataset": "items1",
    "shards": "shards1",
    "webdataset": "tars1",
    "row groups": "groups1",
}
"""By kind of store; the first form of files had sixteen digits of names, sizes and times."""


def digest_images(
    images: UInt8[Tensor, "sample channel height width"], labels: Int64[Tensor, " sample"] | None
) -> str:
    """Know images in memory by their bytes and labels.

    >>> import torch
    >>> digest_images(torch.zeros(2, 3, 4, 4, dtype=torch.uint8), None)
    '977965a17bfd2ece'
    """
    digest = hashlib.blake2b(digest_size=8)
    digest.update(str(tuple(images.shape)).encode())
    many = max(1, BYTES // max(1, images[:1].numel()))
    for some in images.split(many):
        digest.update(some.contiguous().numpy().data)
    if labels is not None:
        digest.update(labels.contiguous().numpy().data)
    return digest.hexdigest()


def encoded_fingerprint(
    kind: str, known: Identity, places: Int64[Tensor, " sample"], labels: str
) -> str:
    """Know encoded images by names, sizes and a sample of their content.

    No time is in it, so that a copy of the files is the same data; docs/decisions says what the
    sample can miss. It has five parts, so that `fingerprint_difference` can say what changed: the
    form, the number of images, and digests of names and sizes, of content, of labels.
    """
    return shard_fingerprint(kind, known, len(places), places, labels)


def shard_fingerprint(
    kind: str, known: Identity, count: int, numbers: Int64[Tensor, " some"], labels: str
) -> str:
    """Know images in shards by what their store is known by, and by numbers of each shard."""
    listed = digest_numbers(numbers, known.files)
    return f"{FORMS[kind]}-{count}-{listed}-{known.content.hex()[:16]}-{labels}"


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
    if before[0] == FORMS["dataset"] and before[:4] != after[:4]:
        return "its items are others"
    if before[2] != after[2]:
        return "files were renamed, replaced or changed in size"
    if before[3] != after[3]:
        return "the content of files changed, though their names and sizes did not"
    return "the labels are others"


def digest_numbers(numbers: Int64[Tensor, " some"], known: bytes = b"") -> str:
    """Digest numbers, after what is known."""
    digest = hashlib.blake2b(known, digest_size=8)
    digest.update(numbers.contiguous().numpy().data)
    return digest.hexdigest()
