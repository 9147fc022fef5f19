"""The end of writing shards: the table of all of them, and the manifest last."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from counterpoint.data.shards.manifest import MANIFEST, Manifest
from counterpoint.data.shards.shard_table import TABLE, write_table
from counterpoint.data.shards.tar_writer import ShardRow, write_whole


def finish_shards(folder: Path, rows: Sequence[ShardRow], manifest: Manifest) -> Manifest:
    """Write table and manifest; the manifest gets the SHA-256 of the table."""
    unfinished = folder / f".{TABLE}.{os.getpid()}"
    try:
        write_table(unfinished, rows)
        content = unfinished.read_bytes()
    finally:
        unfinished.unlink(missing_ok=True)
    write_whole(folder / TABLE, content)
    done = replace(manifest, table=hashlib.sha256(content).hexdigest())
    write_whole(folder / MANIFEST, done.encode())
    return done
