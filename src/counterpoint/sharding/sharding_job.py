"""Write a data set as shards, one by one: what is finished is never done again."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from counterpoint.address import is_address, whole_address
from counterpoint.data.layouts.detect import open_encoded
from counterpoint.data.location import refuse_inside
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.shards.checked_record import checked_record
from counterpoint.data.shards.shard_folder import finish_shards
from counterpoint.data.shards.shard_manifest import (
    MANIFEST,
    ShardManifest,
    SplitRecord,
    read_shard_manifest,
)
from counterpoint.data.shards.tar_writer import Record, index_name, write_shard
from counterpoint.data.source import Source
from counterpoint.data.stores.local_files import LocalFiles
from counterpoint.folder_lock import only_process
from counterpoint.progress import tracked
from counterpoint.sharding.image_names import image_name
from counterpoint.sharding.job_folder import check_job_folder
from counterpoint.sharding.part_record import (
    FOLDER,
    LeftOut,
    PartRecord,
    done_parts,
    left_out_table,
    one_size,
    part_file,
    read_part,
)
from counterpoint.sharding.process_pool import done_in_processes
from counterpoint.sharding.rewritten_shards import check_rewritten
from counterpoint.sharding.sharding_record import (
    ShardingRecord,
    named_splits,
    read_sharding_record,
    sharding_record,
)
from counterpoint.whole_file import sweep_unfinished, write_whole

LEFT_OUT = "left_out.csv"
LOCK = "job.lock"
SHARD_MB = 256  # large enough for a store's requests, small enough for a cache; anchors in docs
DECODED = ("memory", "parquet")  # kinds of sources whose images have one shape where all do
Task = tuple[str, int]
"""A split, and the number of a shard in it."""


@dataclass(frozen=True, eq=False)
class ShardingJob:
    """What is written, and where it goes.

    >>> job = ShardingJob.begin(str(photos_folder), photos_folder.with_name("shards"))
    >>> job.tasks()
    [('train', 0), ('validation', 0), ('test', 0)]
    >>> with job.alone():
    ...     job.write(job.left(), workers=0)
    ...     job.finish().splits["train"].count
    20
    """

    splits: dict[str, Source]
    record: ShardingRecord
    out: Path

    @classmethod
    def begin(
        cls,
        data: str,
        out: str | Path,
        *,
        images: int | None = None,
        shard_size: int = SHARD_MB,
        lanes: int | None = None,
        seed: int = 0,
    ) -> "ShardingJob":
        """Open the images, and the folder or a new one; refuse one with other shards."""
        if is_address(out):
            raise ValueError(f"out: got the address {out}; needs a folder of this machine")
        place = Path(out)
        root = whole_address(data) if is_address(data) else str(Path(data).resolve())
        refuse_inside(root, place)
        splits = named_splits(open_encoded(root))
        record = sharding_record(
            root,
            splits,
            images=images,
            shard_size=shard_size,
            lanes=lanes,
            key=seed,
        )
        check_job_folder(place, record)
        return cls(splits, record, place)

    @classmethod
    def resume(cls, out: str | Path) -> "ShardingJob":
        """Open a job that was begun, as a worker on another machine does."""
        record = read_sharding_record(Path(out))
        if record is None:
            raise FileNotFoundError(
                f"shard: there is no job in {out}; needs a folder all nodes see"
            )
        return cls(named_splits(open_encoded(record.data)), record, Path(out))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only process that writes to the folder, if there is anything to write.

        What a killed one left half written is removed.
        """
        if self.finished and not self.left():
            yield
            return
        (self.out / FOLDER).mkdir(parents=True, exist_ok=True)
        with only_process(self.out, f"{FOLDER}/{LOCK}"):
            # Another process may have begun or ended meanwhile.
            check_job_folder(self.out, self.record)
            sweep_unfinished(self.out)
            self.record.write(self.out)
            yield

    @property
    def finished(self) -> bool:
        """Whether the manifest is there, which is written last."""
        return (self.out / MANIFEST).is_file()

    def tasks(self) -> list[Task]:
        """List all shards."""
        splits = self.record.splits.items()
        return [(name, shard) for name, split in splits for shard in range(split.shards)]

    def has(self, task: Task) -> bool:
        """Tell whether this job wrote a shard: its files and its record are there."""
        name = self.shard_name(task)
        files = [self.out / name, self.out / index_name(name), part_file(self.out, name)]
        return all(file.is_file() for file in files)

    def left(self) -> list[Task]:
        """List the shards that are still to be written, or again: those whose files are gone."""
        there = {place.name for place in self.out.iterdir()} if self.out.is_dir() else set()
        tars = there if self.finished else there & done_parts(self.out)
        done = {name for name in tars if index_name(name) in there}
        return [task for task in self.tasks() if self.shard_name(task) not in done]

    def write(self, tasks: Sequence[Task], *, workers: int) -> None:
        """Write shards by worker processes; each shard is one task."""
        if tasks and read_sharding_record(self.out) is None:
            raise ValueError(
                f"shard: no job has begun in {self.out}; write and finish belong in "
                "`with job.alone():`"
            )
        for source in self.splits.values():
            with suppress(UnreadableImageError):
                source.stored(0)  # Parquet is read into memory here: the processes share it
        done = done_in_processes(tasks, self.write_one, workers)
        for _ in tracked(tasks, "writing shards"):
            next(done)

    def write_one(self, task: Task) -> None:
        """Write one shard: tar, index, and then the record that says they are there."""
        split, name = task[0], self.shard_name(task)
        sizes: set[tuple[int, int]] = set()
        left_out: list[LeftOut] = []
        records = self._records(task, sizes, left_out)
        row = write_shard(self.out, name, split, records, labels=self.splits[split].has_labels)
        PartRecord(row, tuple(sorted(sizes))[:2], tuple(left_out)).write(self.out)

    def _records(
        self, task: Task, sizes: set[tuple[int, int]], left_out: list[LeftOut]
    ) -> Iterator[Record]:
        split, shard = task
        source = self.splits[split]
        samples = self.record.plan(split).samples(shard)
        labels = source.labels_of(samples).tolist() if source.has_labels else [None] * len(samples)
        for sample, label in zip(samples.tolist(), labels, strict=True):
            path = source.path(sample)
            name = image_name(path, self.record.data, split=split, sample=sample)
            try:
                record, size = checked_record(source, sample, name, label)
            except UnreadableImageError as error:
                left_out.append((name, error.kind, str(error)))
                continue
            sizes.add(size)
            yield record

    def shard_name(self, task: Task) -> str:
        """Name the tar of a task."""
        split, shard = task
        return self.record.plan(split).shard_name(shard)

    def finish(self) -> ShardManifest:
        """Write what lists the shards, the manifest last, and remove what was only for resuming."""
        if self.finished:
            check_rewritten(self.out, [self.shard_name(task) for task in self.tasks()])
            shutil.rmtree(self.out / FOLDER, ignore_errors=True)
            return read_shard_manifest(LocalFiles(self.out))[0]
        splits: dict[str, SplitRecord] = {}
        parts = {
            name: [read_part(self.out, self.shard_name((name, n))) for n in range(split.shards)]
            for name, split in self.record.splits.items()
        }
        every = [part for some in parts.values() for part in some]
        shape = self._shape(every)
        for name, some in parts.items():
            source = self.splits[name]
            splits[name] = SplitRecord(
                source.name,
                sum(part.row.count for part in some),
                len(some),
                source.has_labels,
                source.describe()["classes"],
                shape,
                self.record.splits[name].source,
            )
        left_out = [one for part in every for one in part.left_out]
        write_whole(self.out / LEFT_OUT, left_out_table(left_out))
        if not splits["train"].count:
            raise ValueError(
                f"shard: not one image of train can be decoded; {self.out / LEFT_OUT} says why"
            )
        known = (source.classes for source in self.splits.values())
        classes = next((names for names in known if names is not None), None)
        manifest = ShardManifest(
            splits, classes, self.record.key, self.record.lanes, len(left_out), ""
        )
        manifest = finish_shards(self.out, [part.row for part in every], manifest)
        sweep_unfinished(self.out)
        shutil.rmtree(self.out / FOLDER, ignore_errors=True)
        return manifest

    def _shape(self, parts: Sequence[PartRecord]) -> tuple[int, int, int] | None:
        """Return the shape of all images, where the source too would have one."""
        size = one_size(parts)
        shapes = {source.one_shape for source in self.splits.values()}
        kinds = {source.describe()["kind"] for source in self.splits.values()}
        if size is None or (None in shapes and not kinds <= {*DECODED}):
            return None
        channels = {shape[0] for shape in shapes if shape is not None}
        return (channels.pop() if len(channels) == 1 else 3, *size)
