"""The end of writing shards: the table of all of them, and the manifest last."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from counterpoint.data.shards.shard_manifest import MANIFEST, ShardManifest
from counterpoint.data.shards.shard_table import TABLE, encode_shard_table
from counterpoint.data.shards.tar_writer import ShardRow
from counterpoint.whole_file import write_whole


def finish_shards(folder: Path, rows: Sequence[ShardRow], manifest: ShardManifest) -> ShardManifest:
    """Write table and manifest; the manifest gets the SHA-256 of the table."""
    content = encode_shard_table(rows)
    write_whole(folder / TABLE, content)
    done = replace(manifest, table=hashlib.sha256(content).hexdigest())
    write_whole(folder / MANIFEST, done.encode())
    return done
