"""Many real images: CIFAR-10 in several encodings, as Parquet and as shards."""

import io
import os
import time
from multiprocessing import get_context
from pathlib import Path

import pyarrow
from PIL import Image
from pyarrow import parquet

FILE = 20_000  # rows of a Parquet file


def encoded(number: int, images: object, count: int) -> bytes:
    """Return image number n: CIFAR-10's image n modulo its count, in encoding n over its count."""
    kind = number // count
    picture = Image.fromarray(images[number % count].permute(1, 2, 0).numpy())  # type: ignore[index]
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=95 - 3 * kind)
    return file.getvalue()


def _write(task: tuple[str, int, int]) -> None:
    from counterpoint.data import open_data

    place, first, last = task
    train = open_data(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10").train
    rows = [
        {"bytes": encoded(n, train.images, len(train)), "path": None} for n in range(first, last)
    ]
    labels = [int(train.labels[n % len(train)]) for n in range(first, last)]
    table = pyarrow.table({"image": rows, "label": labels})
    parquet.write_table(table, f"{place}/train-{first // FILE:05d}.parquet", compression="none")


def write_parquet(place: Path, count: int, workers: int = 2) -> None:
    """Write images as Parquet files."""
    place.mkdir(parents=True)
    tasks = [(str(place), n, min(count, n + FILE)) for n in range(0, count, FILE)]
    with get_context("spawn").Pool(workers) as pool:
        pool.map(_write, tasks, chunksize=1)


def sharded(place: Path, count: int, *, images: int = 5_000) -> dict[str, object]:
    """Write images as shards into a folder; say how long it took."""
    import shutil
    import tempfile

    from counterpoint.sharding import ShardingJob

    with tempfile.TemporaryDirectory() as made:
        source = Path(made) / "parquet"
        write_parquet(source, count)
        start = time.perf_counter()
        job = ShardingJob.begin(str(source), place / "out", images=images)
        with job.alone():
            job.write(job.left(), workers=2)
            job.finish()
        seconds = time.perf_counter() - start
    for file in (place / "out").iterdir():
        shutil.move(file, place / file.name)
    (place / "out").rmdir()
    return {"sharded_s": round(seconds, 1)}
