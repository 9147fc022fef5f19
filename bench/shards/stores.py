"""Shards on an S3 store of the loopback address, beside the same shards on the disk.

`scripts/bench shards stores`: photos, 16 shards. Rounds alternate in one process between the disk,
the store with an empty cache, and the store with a cache that has everything. The server takes its
share of the same cores, so the clock shows more than our part; what this process and its workers
spend of processors stands beside it. Bytes are counted by the proxy.
"""

import io
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from bench.report import Bar, finish
from counterpoint import Training, open_data, pretrain
from counterpoint.data.batches import Batches
from counterpoint.data.shards.shard_folder import finish_shards
from counterpoint.data.shards.shard_manifest import ShardManifest, SplitRecord
from counterpoint.data.shards.tar_writer import Record, write_shard
from counterpoint.data.source import Source
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from stores_server.store import S3Store, s3_store

SHARDS, LANES, BATCH, SIZE, WORKERS = 16, 8, 64, 64, 1
ROUNDS = 5
WAYS = ("disk", "store, empty cache", "store, full cache")
METHOD = simclr(NarrowResNet(widths=(16, 32), blocks=(1, 1)), size=SIZE)
TRAINING = Training(epochs=1, batch=BATCH, lanes=LANES, block_shards=2)


def write_photos(folder: Path) -> None:
    """Write the photos into shards, dealt in turn."""
    folder.mkdir()
    data = Path(os.environ.get("COUNTERPOINT_DATA", "data")) / "caltech20"
    files = sorted(data.glob("*/*.jpg"))
    rows = []
    for number in range(SHARDS):
        some = files[number::SHARDS]
        records = [Record(file.read_bytes(), "JPEG", file.name) for file in some]
        rows.append(write_shard(folder, f"train-{number:05d}.tar", "train", records, labels=False))
    known = SplitRecord("photos", len(files), SHARDS, labels=False)
    finish_shards(folder, rows, ShardManifest({"train": known}, None, 0, LANES, 0, ""))


def load(source: Source, _: Path) -> int:
    """Read, decode and cut an epoch."""
    cut = METHOD.build(image=(3, SIZE, SIZE)).views.cut
    batches = Batches(source, BATCH, 0, cut=cut, workers=WORKERS, lanes=LANES, block_shards=2)
    return sum(len(batch.index) for batch in batches)


def train(source: Source, out: Path) -> int:
    """Train for an epoch."""
    pretrain(
        METHOD,
        source,
        out=out,
        size=SIZE,
        training=TRAINING,
        workers=WORKERS,
        console=Console(file=io.StringIO()),
    )
    return len(source) // BATCH * BATCH


def processor() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def rounds(
    name: str, work: Callable[[Source, Path], int], places: dict[str, str], store: S3Store
) -> dict[str, float]:
    """Alternate the ways; give images a second by the clock, ratios to the disk, and bytes."""
    clock: dict[str, list[float]] = {way: [] for way in WAYS}
    spent: dict[str, list[float]] = {way: [] for way in WAYS}
    images, wire = 0, []
    for _ in range(ROUNDS):
        for way in WAYS:
            cache = Path(os.environ["COUNTERPOINT_CACHE"])
            if way == "store, empty cache":
                shutil.rmtree(cache / "shards", ignore_errors=True)
            store.break_it()
            source = open_data(places[way]).train
            with tempfile.TemporaryDirectory() as out:
                began, used = time.perf_counter(), processor()
                images = work(source, Path(out) / "run")
                clock[way].append((time.perf_counter() - began) / images)
                spent[way].append((processor() - used) / images)
            if way == "store, empty cache":
                wire.append(sum(n for key, n in store.counts()["keys"].items() if ".tar" in key))
    found = {f"{name}, images": float(images)}
    for way in WAYS:
        found[f"{name}, {way}, images a second"] = 1 / statistics.median(clock[way])
        for kind, times in (("clock", clock), ("processor", spent)):
            if way != "disk":
                ratios = [a / b for a, b in zip(times["disk"], times[way], strict=True)]
                found[f"{name}, {way}, speed over disk, {kind}"] = statistics.median(ratios)
                found[f"{name}, {way}, lowest round, {kind}"] = min(ratios)
    tars = sum(file.stat().st_size for file in Path(places["disk"]).glob("*.tar"))
    found[f"{name}, bytes over the wire by bytes of shards"] = max(wire) / tars
    return found


def main(_: list[str]) -> None:
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, s3_store() as store:
        os.environ |= store.environment | {"COUNTERPOINT_CACHE": f"{folder}/cache"}
        write_photos(Path(folder) / "set")
        address = store.put_folder(Path(folder) / "set", "set")
        places = dict.fromkeys(WAYS, address) | {"disk": f"{folder}/set"}
        for name, work in (("loader", load), ("training", train)):
            figures |= rounds(name, work, places, store)
    worst = max(value for key, value in figures.items() if "over the wire" in key)
    finish("shards stores", figures, [Bar("bytes over the wire by bytes of shards", worst, 1.02)])
