"""What is known of a finished shard until the manifest is written: a small file for each."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from counterpoint.data.shards.tar_writer import ShardRow
from counterpoint.whole_file import write_whole

FOLDER = ".parts"
LeftOut = tuple[str, str, str]
"""Name, kind and reason of an image that is not in its shard."""


@dataclass(frozen=True, slots=True)
class PartRecord:
    """A finished shard: its row of the table, the sizes of its images, and what is not in it."""

    row: ShardRow
    sizes: tuple[tuple[int, int], ...]
    """Height and width, where all are the same; else two of them, or none."""
    left_out: tuple[LeftOut, ...]

    def write(self, out: Path) -> None:
        """Say that a shard is done; tar and index are there."""
        row = self.row
        record = {
            "name": row.name,
            "split": row.split,
            "count": row.count,
            "length": row.length,
            "sha256": row.sha256.hex(),
            "index_sha256": row.index_sha256.hex(),
            "sizes": self.sizes,
            "left_out": self.left_out,
        }
        write_whole(part_file(out, row.name), json.dumps(record).encode())


def part_file(out: Path, shard: str) -> Path:
    """Return where the record of a shard is."""
    return out / FOLDER / f"{shard}.json"


def read_part(out: Path, shard: str) -> PartRecord:
    """Read the record of a shard that is done."""
    found = json.loads(part_file(out, shard).read_bytes())
    row = ShardRow(
        found["name"],
        found["split"],
        found["count"],
        found["length"],
        bytes.fromhex(found["sha256"]),
        bytes.fromhex(found["index_sha256"]),
    )
    sizes = tuple((height, width) for height, width in found["sizes"])
    return PartRecord(row, sizes, tuple((a, b, c) for a, b, c in found["left_out"]))


def done_parts(out: Path) -> set[str]:
    """List the shards that are done: there is a record of each."""
    return {path.name.removesuffix(".json") for path in (out / FOLDER).glob("*.tar.json")}


def one_size(parts: Sequence[PartRecord]) -> tuple[int, int] | None:
    """Return the size of all images, where there is one."""
    sizes = {size for part in parts for size in part.sizes}
    return sizes.pop() if len(sizes) == 1 else None


def left_out_table(left_out: Sequence[LeftOut]) -> bytes:
    """Write what was left out as a table; names that are no text are written as they can be."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["image", "kind", "reason"])
    writer.writerows(left_out)
    return text.getvalue().encode("utf-8", "backslashreplace")
