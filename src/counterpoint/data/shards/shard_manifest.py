"""The manifest of shards: what they hold, by a small JSON file that is written last."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from counterpoint.data.notes import one_line
from counterpoint.data.stores.files import Files

Value = TypeVar("Value")
MANIFEST = "manifest.json"
FORMAT = 1
KIND = "counterpoint shards"
MOST_BYTES = 64 << 20  # names of a million classes
SPLIT_NAMES = ("train", "labelled", "validation", "test")


class DamagedShardsError(ValueError):
    """A manifest or a table of shards that cannot be believed; it says why."""


@dataclass(frozen=True, slots=True)
class SplitRecord:
    """One split: how its source is called, and what is in it."""

    name: str
    count: int
    shards: int
    labels: bool
    label_count: int | None = None
    shape: tuple[int, ...] | None = None
    """The shape of every image, where all have one."""
    source: str = ""
    """The fingerprint of the images that the shards were made of."""


@dataclass(frozen=True, slots=True)
class ShardManifest:
    """What all shards hold; the table beside it has a row for each."""

    splits: Mapping[str, SplitRecord]
    classes: tuple[str, ...] | None
    key: int
    """Of the permutation that mixed them."""
    lanes: int
    left_out: int
    """How many images could not be decoded; left_out.csv lists them."""
    table: str
    """The SHA-256 of the table."""

    def encode(self) -> bytes:
        """Write it down."""
        record = {"format": FORMAT, "kind": KIND, **asdict(self)}
        return (json.dumps(record, indent=1) + "\n").encode()


def decode_shard_manifest(content: bytes) -> ShardManifest:
    """Read a manifest, and refuse what it cannot mean.

    >>> split = SplitRecord("photos train", 3, 1, labels=False)
    >>> known = ShardManifest({"train": split}, None, 0, 1, 0, "00" * 32)
    >>> decode_shard_manifest(known.encode()) == known
    True
    """
    try:
        record = json.loads(content)
        if record["kind"] != KIND:
            raise DamagedShardsError(f"its kind is {record['kind']!r:.80}, needs {KIND!r}")
        if record["format"] != FORMAT:
            raise DamagedShardsError(
                f"its format is {record['format']!r:.80}; this version reads {FORMAT}"
            )
        splits = {name: _split(name, split) for name, split in record["splits"].items()}
        classes = record["classes"]
        found = ShardManifest(
            splits,
            None if classes is None else tuple(_of(str, name) for name in classes),
            _number(record["key"]),
            _number(record["lanes"]),
            _number(record["left_out"]),
            bytes.fromhex(_of(str, record["table"])).hex(),
        )
    except DamagedShardsError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DamagedShardsError(
            f"it is not a manifest of shards: {type(error).__name__} {one_line(error)}"
        ) from error
    if "train" not in splits:
        raise DamagedShardsError("it has no split to train on")
    return found


def _split(name: str, record: Mapping[str, Any]) -> SplitRecord:
    if name not in SPLIT_NAMES:
        raise DamagedShardsError(f"it has a split {name!r:.80}; needs {', '.join(SPLIT_NAMES)}")
    shape, labels = record["shape"], record["label_count"]
    return SplitRecord(
        _of(str, record["name"]),
        _number(record["count"]),
        _number(record["shards"]),
        _of(bool, record["labels"]),
        None if labels is None else _number(labels),
        None if shape is None else _shape(shape),
        _of(str, record["source"]),
    )


def _shape(numbers: Any) -> tuple[int, ...]:
    shape = tuple(_number(number) for number in _of(list, numbers))
    if len(shape) != 3 or shape[0] not in (1, 3) or not all(shape) or max(shape) > 1 << 16:
        raise DamagedShardsError(f"it says that images are {shape}")
    return shape


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise DamagedShardsError(f"{value!r:.80} stands where a number is needed")
    return value


def _of(kind: type[Value], value: Any) -> Value:
    if not isinstance(value, kind):
        raise DamagedShardsError(f"{value!r:.80} stands where {kind.__name__} is needed")
    return value


def read_shard_manifest(files: Files) -> tuple[ShardManifest, bytes]:
    """Read the manifest of some files; return it and its SHA-256."""
    size = files.size(MANIFEST)
    if size > MOST_BYTES:
        raise DamagedShardsError(f"it has {size:,} bytes, at most {MOST_BYTES:,}")
    content = files.read(MANIFEST)
    return decode_shard_manifest(content), hashlib.sha256(content).digest()
