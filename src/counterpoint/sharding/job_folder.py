"""The folder that a job of sharding writes to: empty, or with the shards of the same job."""

from pathlib import Path

from counterpoint.data.shards.shard_manifest import MANIFEST, read_shard_manifest
from counterpoint.data.stores.local_files import LocalFiles
from counterpoint.sharding.part_record import FOLDER
from counterpoint.sharding.sharding_record import ShardingRecord, read_sharding_record


def check_job_folder(out: Path, record: ShardingRecord) -> None:
    """Refuse a folder with other shards than those of the record, or with anything else."""
    if (out / MANIFEST).is_file():
        _check_finished(out, record)
        return
    known = read_sharding_record(out)
    if known is not None and known != record:
        raise ValueError(
            f"out: {out} has shards of {known.data} with other settings or of other "
            "images; give the same command, or another folder"
        )
    others = out.is_dir() and any(place.name != FOLDER for place in out.iterdir())
    if known is None and others:  # without a record: it was killed before it wrote that
        raise ValueError(f"out: {out} is not empty; needs a new folder")


def _check_finished(out: Path, record: ShardingRecord) -> None:
    """Refuse a folder whose shards are finished, and are others."""
    found, _ = read_shard_manifest(LocalFiles(out))
    there = {name: (split.shards, split.source) for name, split in found.splits.items()}
    ours = {name: (split.shards, split.source) for name, split in record.splits.items()}
    if (there, found.key) != (ours, record.key):
        raise ValueError(
            f"out: {out} has shards of other images, or in other numbers; needs a new folder"
        )
