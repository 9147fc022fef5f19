"""Photos from shards: our loader beside a bare loop, litdata and webdataset; bytes read; training.

All read encoded photos one after the other in one process, and give them to the same decoder and
the same cut; batches of all sides alternate. `loader --batches N` says how many.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

BATCH = 32
BARS = {"bare": 0.95, "peers": 1.0, "training": 0.97, "bytes": 1.02}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="loader")
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out", default="docs/results/shards-loader.json")
    options = parser.parse_args(arguments)
    from counterpoint.data import open_data
    from counterpoint.sharding import ShardingJob

    with tempfile.TemporaryDirectory() as place:
        home = Path(os.environ["COUNTERPOINT_DATA"])
        folder = Path(place) / "photos"
        job = ShardingJob.begin(str(home / "caltech20"), folder, images=150)
        with job.alone():
            job.write(job.left(), workers=0)
            job.finish()
        photos = open_data(folder).train
        sides = {
            "ours": ours(photos),
            "bare": bare(photos),
            **peers(photos, folder, Path(place) / "chunks"),
        }
        found: dict[str, Any] = {"bars": BARS, "batch": BATCH, "photos": len(photos)}
        found |= alternating(sides, options.batches)
        found["bytes"] = {ranks: bytes_read(folder, ranks) for ranks in (1, 2, 4, 8)}
        print(json.dumps(found), flush=True)
        found["load_average"] = os.getloadavg()[0]
        found["training"] = training(home / "cifar10", Path(place) / "cifar", options.steps)
    Path(options.out).write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))


def cutting() -> Any:
    from counterpoint.methods import simclr_small

    return simclr_small(size=64).build(image=(3, 64, 64)).views.cut


def ours(photos: Any) -> Iterator[int]:
    """Batches as training reads them, without workers."""
    from counterpoint.data import Batches

    epoch = 0
    while True:
        for batch in Batches(photos, BATCH, seed=0, cut=cutting(), epoch=epoch):
            yield len(batch.index)
        epoch += 1


def bare(photos: Any) -> Iterator[int]:
    """The same photos in the same order: pread at known places, the decoder, the cut."""
    from counterpoint.data.order import Order
    from counterpoint.data.pictures import open_picture
    from counterpoint.framework import Draw

    store, cut = photos.store, cutting()
    shards = range(len(store.counts))
    files = [os.open(Path(store.files.place) / store.shard_name(n), os.O_RDONLY) for n in shards]
    records = [store.index(n).records for n in shards]
    ends = store.counts.cumsum(0)
    epoch = 0
    while True:
        for share in Order(len(photos), BATCH, 0, epoch=epoch).shares():
            pictures = []
            shard_of = torch.searchsorted(ends, share, right=True).tolist()
            for sample, shard in zip(share.tolist(), shard_of, strict=True):
                record = records[shard][sample - int(ends[shard] - store.counts[shard])]
                data = os.pread(files[shard], int(record["size"]), int(record["offset"]))
                pictures.append(open_picture(data, "bare"))
            cut(pictures, Draw(0, epoch, share))
            yield len(share)
        epoch += 1


def decoded(contents: Iterator[bytes], cut: Any) -> Iterator[int]:
    """Decode and cut what a peer reads."""
    from counterpoint.data.pictures import open_picture
    from counterpoint.framework import Draw

    step = 0
    while True:
        some = [next(contents) for _ in range(BATCH)]
        index = torch.arange(step * BATCH, (step + 1) * BATCH)
        cut([open_picture(bytes(data), "peer") for data in some], Draw(0, 0, index))
        yield BATCH
        step += 1


def peers(photos: Any, folder: Path, chunks: Path) -> dict[str, Iterator[int]]:
    """Litdata and webdataset on the same photos, shuffled as they document."""
    import litdata
    import webdataset
    from litdata.streaming.writer import BinaryWriter

    items = [photos.stored(n).content for n in range(len(photos))]
    chunks.mkdir()
    writer = BinaryWriter(str(chunks), chunk_size=150)
    for number, item in enumerate(items):
        writer.add_item(number, item)
    writer.done()
    writer.merge()

    def chunked() -> Iterator[bytes]:
        data = litdata.StreamingDataset(str(chunks), shuffle=True)
        while True:
            yield from data

    def tars() -> Iterator[bytes]:
        names = [str(file) for file in sorted(folder.glob("train-*.tar"))]
        data = webdataset.WebDataset(names, shardshuffle=len(names)).shuffle(1000)
        while True:
            for sample in data:
                yield next(sample[key] for key in ("jpg", "png") if key in sample)

    return {
        "litdata": decoded(chunked(), cutting()),
        "webdataset": decoded(tars(), cutting()),
    }


def alternating(sides: dict[str, Iterator[int]], batches: int) -> dict[str, Any]:
    """Take a batch of each side in turn; the ratio is of medians."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for side in sides.values():
        next(side)  # start
    for _ in range(batches):
        for name, side in sides.items():
            start = time.perf_counter()
            next(side)
            times[name].append(time.perf_counter() - start)
    speed = {name: BATCH / statistics.median(taken) for name, taken in times.items()}
    return {
        "images_per_s": {name: round(value, 1) for name, value in speed.items()},
        "ours_over": {name: round(speed["ours"] / v, 3) for name, v in speed.items()},
    }


class CountedFiles:
    """Files that count the bytes they give."""

    def __init__(self, files: Any) -> None:
        self.files, self.bytes = files, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        found: bytes = self.files.read(name, start, length)
        self.bytes += len(found)
        return found


def bytes_read(folder: Path, ranks: int) -> float:
    """Return the bytes that all ranks read in an epoch, over the bytes of the images they used."""
    from dataclasses import replace

    from counterpoint.data import open_data
    from counterpoint.data.order import Order
    from counterpoint.data.stores.local_files import LocalFiles

    read = used = 0
    for rank in range(ranks):
        files = CountedFiles(LocalFiles(folder))
        train = open_data(folder).train
        train = replace(train, store=replace(train.store, files=files))
        counts = train.shards.counts
        order = Order(len(train), BATCH, 0, rank, ranks, lanes=8, block_shards=1, counts=counts)
        for share in order.shares():
            used += sum(len(train.stored(sample).content) for sample in share.tolist())
        read += files.bytes
    return round(read / used, 4)


def training(cifar: Path, out: Path, steps: int) -> dict[str, Any]:
    """Train on shards and on the same images in memory, a step of each in turn.

    Each is read by the workers that a run would give it: images in memory need none. The same
    without workers stands beside it: what decoding takes where no core is free for it.
    """
    from counterpoint.data import Batches, open_data
    from counterpoint.data.workers import loader_workers
    from counterpoint.framework import Draw, contrast
    from counterpoint.methods import simclr_small
    from counterpoint.sharding import ShardingJob

    job = ShardingJob.begin(str(cifar), out, images=2_500)
    with job.alone():
        job.write(job.left(), workers=2)
        job.finish()
    model = simclr_small(size=32).build(image=(3, 32, 32))
    chosen = torch.optim.SGD(model.parameters(), lr=1e-3)
    sources = {"shards": open_data(out).train, "memory": open_data(cifar).train}
    batches = {
        name: iter(Batches(some, 128, seed=0, workers=loader_workers(some)))
        for name, some in sources.items()
    } | {"shards, no workers": iter(Batches(sources["shards"], 128, seed=0))}
    times: dict[str, list[float]] = {name: [] for name in batches}
    for step in range(steps + 1):
        for name, some in batches.items():
            start = time.perf_counter()
            images, index, _ = next(some)
            contrast(model, model.views(images, Draw(0, 0, index)), index).backward()
            chosen.step()
            chosen.zero_grad()
            if step:
                times[name].append(time.perf_counter() - start)
    speed = {name: 128 / statistics.median(taken) for name, taken in times.items()}
    return {
        "images_per_s": {name: round(value, 1) for name, value in speed.items()},
        "shards_over_memory": round(speed["shards"] / speed["memory"], 3),
        "without_workers": round(speed["shards, no workers"] / speed["memory"], 3),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
