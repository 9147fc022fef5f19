"""Read all shards again: every byte, every checksum, every image."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from counterpoint.data.layouts.shards import shard_stores
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.shards.checked_record import LOOK
from counterpoint.data.shards.shard_table import read_digests
from counterpoint.data.shards.tar_shards import TarShards
from counterpoint.data.shards.tar_writer import index_name
from counterpoint.data.stores.files import Files
from counterpoint.progress import tracked
from counterpoint.sharding.process_pool import done_in_processes

CHUNK = 1 << 22  # bytes that are hashed at a time
MOST = 100  # findings of a shard that are kept


@dataclass(frozen=True, slots=True)
class ShardCheck:
    """What was found in one shard."""

    images: int
    length: int
    wrong: tuple[str, ...]


def verify_shards(files: Files, *, workers: int) -> list[ShardCheck]:
    """Check the SHA-256 of each file, the checksum of each record, and decode each image."""
    stores = shard_stores(files)
    tars, indices = read_digests(files)
    tasks = [(store, shard) for store in stores for shard in range(len(store.counts))]
    numbered = range(len(tasks))

    def check(number: int) -> ShardCheck:
        return check_shard(*tasks[number], tars[number], indices[number])

    done = done_in_processes(numbered, check, workers)
    return [next(done) for _ in tracked(numbered, "verifying shards")]


def check_shard(store: TarShards, shard: int, tar: bytes, index: bytes) -> ShardCheck:
    """Check one shard against its row of the table."""
    name = store.shard_name(shard)
    wrong = [
        *_wrong_file(store.files, name, tar),
        *_wrong_file(store.files, index_name(name), index),
    ]
    for row in range(int(store.counts[shard])):
        try:
            store.stored(shard, row).picture().decode(LOOK)
        except UnreadableImageError as error:
            wrong.append(str(error))
    return ShardCheck(
        int(store.counts[shard]), int(store.table.lengths[shard]), tuple(wrong[:MOST])
    )


def _wrong_file(files: Files, name: str, known: bytes) -> Iterator[str]:
    digest = hashlib.sha256()
    try:
        size = files.size(name)
        for start in range(0, size, CHUNK):
            digest.update(files.read(name, start, min(CHUNK, size - start)))
    except FileNotFoundError:
        yield f"{files.place}/{name}: the file is gone"
        return
    if digest.digest() != known:
        yield f"{files.place}/{name}: its SHA-256 is not the table's"
