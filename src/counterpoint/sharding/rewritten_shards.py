"""Shards whose files were gone, and which were written again after the manifest."""

from collections.abc import Sequence
from pathlib import Path

from counterpoint.data.shards.shard_table import read_digests
from counterpoint.data.stores.local_files import LocalFiles
from counterpoint.sharding.part_record import done_parts, read_part


def check_rewritten(out: Path, names: Sequence[str]) -> None:
    """Refuse shards that were written again and are not those of the table.

    `names` are those of all shards, in the table's order.
    """
    again = done_parts(out)
    for name, *digests in zip(names, *read_digests(LocalFiles(out)), strict=True):
        if name not in again:
            continue
        row = read_part(out, name).row
        if [row.sha256, row.index_sha256] != digests:
            raise ValueError(
                f"shard: {out / name} was gone, and written again it has other bytes (PNGs that "
                "another version of Pillow made, for example); write all shards to a new folder"
            )
