"""Small folders of shards, for tests."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from counterpoint.data.shards.shard_folder import finish_shards
from counterpoint.data.shards.shard_manifest import ShardManifest, SplitRecord
from counterpoint.data.shards.tar_writer import Record, write_shard


def png(number: int, side: int = 8) -> bytes:
    """A picture that is known by its number."""
    pixels = np.random.default_rng(number).integers(0, 256, (side, side, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def make_shards(
    folder: Path, counts=(5, 4, 4), *, labels=True, split="train", shape=(3, 8, 8), picture=png
) -> Path:
    """Write shards of one split; sample n of all is `picture(n)`, its label n modulo 3."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, number = [], 0
    for shard, count in enumerate(counts):
        records = [
            Record(picture(n), "PNG", f"some/{n}.png", n % 3 if labels else None)
            for n in range(number, number + count)
        ]
        number += count
        name = f"{split}-{shard:05d}.tar"
        rows.append(write_shard(folder, name, split, records, labels=labels))
    known = SplitRecord(f"made {split}", number, len(counts), labels, None, shape)
    names = ("a", "b", "c") if labels else None
    finish_shards(folder, rows, ShardManifest({split: known}, names, 0, 1, 0, ""))
    return folder
