"""What files that others made are known by: names, sizes, counts and a sample of their content."""

import hashlib
from collections.abc import Sequence

from counterpoint.data.identity import BLOCK, BLOCKS, Identity, sampled_places
from counterpoint.data.shards.thread_map import thread_map
from counterpoint.data.stores.files import Files


def foreign_identity(
    files: Files, names: Sequence[str], counts: Sequence[int], form: str
) -> Identity:
    """Digest the name, size and number of images of each file, and blocks of some files."""
    digest = hashlib.blake2b(form.encode(), digest_size=32)
    sizes = thread_map(files.size, names, f"asking for the sizes of {len(names):,} files")
    for name, size, count in zip(names, sizes, counts, strict=True):
        digest.update(b"%s\0%d %d\n" % (name.encode("utf-8", "surrogateescape"), size, count))
    some = [names[place] for place in sampled_places(len(names))]
    content = hashlib.blake2b(digest_size=32)
    what = f"looking at the content of {len(some)} files"
    for block in thread_map(lambda name: _blocks(files, name), some, what):
        content.update(block)
    return Identity(digest.digest(), content.digest())


def _blocks(files: Files, name: str) -> bytes:
    """Digest a short file as a whole, of a long one its blocks."""
    digest = hashlib.blake2b(digest_size=32)
    try:
        size = files.size(name)
        if size <= BLOCK * BLOCKS:
            digest.update(files.read(name, 0, size))
        else:
            places = [(size - BLOCK) * number // (BLOCKS - 1) for number in range(BLOCKS)]
            for block in files.read_ranges(name, [(place, BLOCK) for place in places]):
                digest.update(block)
    except OSError:
        return b"unreadable"
    return digest.digest()
