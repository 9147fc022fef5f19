"""`counterpoint shard` beside a bare loop that decodes and copies, and after kills.

`write --images N`: N images of CIFAR-10 in several encodings, in a temporary folder.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.shards.many_images import write_parquet

BAR = 0.8
COMMAND = [sys.executable, "-c", "from counterpoint.cli import main; main()", "shard"]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="write")
    parser.add_argument("--images", type=int, default=1_000_000)
    parser.add_argument("--each", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--out", default="docs/results/shards-write.json")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        start = time.perf_counter()
        source = Path(place) / "parquet"
        write_parquet(source, options.images)
        print(f"{options.images:,} images made in {time.perf_counter() - start:.0f} s", flush=True)
        found = {
            "images": options.images,
            **beside_bare(source, Path(place) / "beside", options.each, options.rounds),
            **with_kills(source, Path(place), options.each, options.kills),
        }
    found["bar"] = BAR
    Path(options.out).write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))
    sys.exit(found["ratio"] < BAR or not found["same_bytes"])


def beside_bare(source: Path, out: Path, each: int, rounds: int) -> dict[str, object]:
    """Write some shards by the job and by a bare loop, one after the other, in one process."""
    from counterpoint.data.shards.checked_record import LOOK
    from counterpoint.sharding import ShardingJob

    job = ShardingJob.begin(str(source), out, images=each)
    train = job.splits["train"]
    train.stored(0)  # the rows are in memory
    tasks = [task for task in job.tasks() if task[0] == "train"][:rounds]
    ours = bare = 0.0
    count = 0
    with job.alone():
        for task in tasks:
            samples = job.record.plan("train").samples(task[1]).tolist()
            start = time.perf_counter()
            job.write_one(task)
            middle = time.perf_counter()
            with (out / "bare").open("wb") as file:
                for sample in samples:
                    stored = train.stored(sample)
                    stored.picture().decode(LOOK)
                    file.write(stored.content)
                file.flush()
                os.fsync(file.fileno())
            bare += time.perf_counter() - middle
            ours += middle - start
            count += len(samples)
    return {
        "compared": count,
        "images_per_s": round(count / ours),
        "bare_images_per_s": round(count / bare),
        "ratio": round(bare / ours, 3),
    }


def with_kills(source: Path, place: Path, each: int, kills: int) -> dict[str, object]:
    """Write everything by the command, once whole and once killed again and again."""
    words = [*COMMAND, str(source), "", "--images", str(each), "--workers", "2"]
    whole, broken = place / "whole", place / "broken"
    words[5] = str(whole)
    start = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    words[5] = str(broken)
    shards = len([*whole.glob("*.tar")])
    draw, done = random.Random(0), 0
    for kill in range(kills):
        process = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)
        wanted = shards * (kill + 1) // (kills + 1)
        while process.poll() is None and len([*broken.glob("*.idx")]) < wanted:
            time.sleep(0.02)
        time.sleep(draw.random())
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            done += 1
        process.wait()
        print(f"kill {kill + 1} with {len([*broken.glob('*.idx')])} of {shards} shards", flush=True)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return {
        "shards": shards,
        "whole_s": round(seconds, 1),
        "whole_images_per_s": round(each * shards / seconds),
        "kills": done,
        "same_bytes": digests(whole) == digests(broken),
    }


def digests(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
    }


if __name__ == "__main__":
    main(sys.argv[1:])
