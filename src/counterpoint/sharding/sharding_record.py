"""What a folder of shards is made of: known before the first, so that another run can continue."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from counterpoint.data.source import Source
from counterpoint.data.splits import Splits
from counterpoint.framework.permutation import drawn
from counterpoint.sharding.part_record import FOLDER
from counterpoint.sharding.shard_plan import SplitPlan, shard_count, usual_lanes
from counterpoint.whole_file import write_whole

FILE = "job.json"
SAMPLED = 256  # images whose length says how many fit into a shard
PADDED = 512 + 256  # bytes of a tar for each image: its header, and half a block


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """One split: how many images and shards, and which images these are."""

    count: int
    shards: int
    source: str


@dataclass(frozen=True, slots=True)
class ShardingRecord:
    """All that decides what is written."""

    data: str
    key: int
    lanes: int
    splits: Mapping[str, SplitSettings]

    def plan(self, split: str) -> SplitPlan:
        """Return how the images of a split are dealt."""
        found = self.splits[split]
        return SplitPlan(split, found.count, found.shards, self.key)

    def write(self, out: Path) -> None:
        """Write it beside the parts."""
        (out / FOLDER).mkdir(parents=True, exist_ok=True)
        write_whole(out / FOLDER / FILE, json.dumps(asdict(self), indent=1).encode())


def read_sharding_record(out: Path) -> ShardingRecord | None:
    """Read the record of a folder whose shards are being made; None where there is none."""
    try:
        found = json.loads((out / FOLDER / FILE).read_bytes())
    except FileNotFoundError:
        return None
    splits = {name: SplitSettings(**split) for name, split in found["splits"].items()}
    return ShardingRecord(found["data"], found["key"], found["lanes"], splits)


def sharding_record(
    data: str,
    splits: Mapping[str, Source],
    *,
    images: int | None,
    shard_size: int,
    lanes: int | None,
    key: int,
) -> ShardingRecord:
    """Decide how many shards there are: of `images` each, or of about `shard_size` MB."""
    train = splits.get("train")
    if train is None:
        raise ValueError(f"shard: {data} has no images to train on; needs one or more")
    each = images_per_shard(train, shard_size) if images is None else images
    needed = max(1, -(-len(train) // each))
    many = usual_lanes(needed) if lanes is None else lanes
    found = {
        name: SplitSettings(
            len(source),
            shard_count(len(source), each, many if name == "train" else 1),
            source.fingerprint(),
        )
        for name, source in splits.items()
    }
    return ShardingRecord(data, key, many, found)


def images_per_shard(source: Source, megabytes: int) -> int:
    """Return how many images make a shard, by the mean length of some."""
    lengths = [_length(source, s) for s in drawn(len(source), SAMPLED, seed=0).tolist()]
    mean = sum(lengths) / max(1, len(lengths))
    return max(1, int(megabytes * 2**20 // (mean + PADDED)))


def _length(source: Source, sample: int) -> int:
    try:
        return len(source.stored(sample).content)
    except ValueError:  # what cannot be read is left out
        return 0


def named_splits(splits: Splits) -> dict[str, Source]:
    """Return the splits that have images, by name, in the order that shards are written."""
    parts = {
        "train": splits.train,
        "labelled": splits.labelled,
        "validation": splits.validation,
        "test": splits.test,
    }
    return {name: part for name, part in parts.items() if part is not None and len(part)}
