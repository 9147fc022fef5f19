"""What a rank holds: a manifest of a million shards, and ten times as many real images.

`memory --shards N` for the generated manifest, `--images A,B` for the real images.
"""

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

EACH = 5_000  # images of a generated shard
LANES, BLOCK, BATCH, RANKS = 1_024, 8, 65_536, 1_024
BARS = {"open_s": 5.0, "open_mb": 200.0, "first_batch_s": 1.0, "growth_mb": 20.0}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="memory")
    parser.add_argument("--shards", type=int, default=1_000_000)
    parser.add_argument("--images", default="100000,1000000")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--out", default="docs/results/shards-memory.json")
    parser.add_argument("--child", nargs="*")
    options = parser.parse_args(arguments)
    if options.child:
        kind, *more = options.child
        print(json.dumps({"open": opened, "train": read}[kind](*more)))
        return
    found: dict[str, object] = {"bars": BARS}
    with tempfile.TemporaryDirectory() as place:
        generate(Path(place), options.shards)
        size = sum(file.stat().st_size for file in Path(place).iterdir())
        found["generated"] = {
            "shards": options.shards,
            "samples": options.shards * EACH,
            "manifest_mb": round(size / 2**20, 1),
            **child("open", place),
        }
    print(json.dumps(found, indent=1))
    if options.images:
        from bench.shards.many_images import sharded

        ranks = []
        for count in map(int, options.images.split(",")):
            with tempfile.TemporaryDirectory() as place:
                made = sharded(Path(place), count)
                ranks.append({"images": count, **made, **child("train", place, str(options.steps))})
                print(json.dumps(ranks[-1]))
        growth = max(one["mb"] for one in ranks) - min(one["mb"] for one in ranks)
        found["real"] = {"ranks": ranks, "growth_mb": round(growth, 1)}
    Path(options.out).write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))


def generate(place: Path, shards: int) -> None:
    """Write the manifest and the table of shards that are not there."""
    import pyarrow
    from pyarrow import parquet

    from counterpoint.data.shards.shard_manifest import ShardManifest, SplitRecord
    from counterpoint.data.shards.shard_table import SCHEMA

    sums = np.random.default_rng(0).bytes(32 * shards)
    digests = pyarrow.FixedSizeBinaryArray.from_buffers(
        pyarrow.binary(32), shards, [None, pyarrow.py_buffer(sums)]
    )
    table = pyarrow.table(
        [
            pyarrow.array([f"train-{n:07d}.tar" for n in range(shards)]),
            pyarrow.array(["train"] * shards),
            pyarrow.array(np.full(shards, EACH)),
            pyarrow.array(np.full(shards, 256 << 20)),
            digests,
            digests,
        ],
        schema=SCHEMA,
    )
    file = place / "shards.parquet"
    parquet.write_table(
        table, file, compression="none", use_dictionary=["split"], row_group_size=1 << 16
    )
    split = SplitRecord("generated train", shards * EACH, shards, labels=False)
    known = hashlib.sha256(file.read_bytes()).hexdigest()
    manifest = ShardManifest({"train": split}, None, 0, LANES, 0, known)
    (place / "manifest.json").write_bytes(manifest.encode())


def child(*words: str) -> dict[str, object]:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "bench.shards.memory", "--child", *words]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def resident() -> float:
    """Return the memory of this process in MB: now, of which none is swapped out."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def opened(place: str) -> dict[str, object]:
    """Open the generated manifest, and draw the first batch of some ranks."""
    import torch

    from counterpoint.data import open_data
    from counterpoint.data.order import Order

    small = tempfile.mkdtemp()
    generate(Path(small), 16)
    open_data(small)  # what any shards cost: imports
    before, most = resident(), peak()
    start, used = time.perf_counter(), time.process_time()
    train = open_data(place).train
    seconds, used = time.perf_counter() - start, time.process_time() - used
    after, highest = resident(), peak()
    first, work, counts = {}, {}, train.shards.counts
    for rank in (0, RANKS // 2, RANKS - 1):
        begin, worked = time.perf_counter(), time.process_time()
        order = Order(
            len(train), BATCH, 0, rank, RANKS, lanes=LANES, block_shards=BLOCK, counts=counts
        )
        share = next(iter(order.shares()))
        first[rank] = round(time.perf_counter() - begin, 3)
        work[rank] = round(time.process_time() - worked, 3)
        assert len(share) == BATCH // RANKS
        assert int(share.max()) < len(train)
    _, row = train.window.places(torch.tensor([len(train) - 1]))
    assert int(row) == EACH - 1
    return {
        "open_s": round(seconds, 2),
        "open_cpu_s": round(used, 2),
        "open_mb": round(after - before, 1),
        "open_peak_mb": round(max(0.0, highest - max(most, before)), 1),
        "first_batch_s": max(first.values()),
        "first_batch_cpu_s": max(work.values()),
        "first_batch_mb": round(resident() - after, 1),
    }


def read(place: str, steps: str) -> dict[str, object]:
    """Read batches as a rank does, and say how much memory it takes."""
    from counterpoint.data import Batches, open_data

    train = open_data(place).train
    batches = Batches(train, batch=256, seed=0)
    start, seen = time.perf_counter(), 0
    for number, batch in enumerate(batches):
        seen += len(batch.index)
        if number + 1 == int(steps):
            break
    seconds = time.perf_counter() - start
    return {"mb": round(resident(), 1), "read": seen, "images_per_s": round(seen / seconds)}


if __name__ == "__main__":
    main(sys.argv[1:])
