"""Do the methods learn? Every `-small` method on CIFAR-10 against its own random encoder.

`scripts/bench learn byol-small --minutes 15`: train, then weighted kNN (k = 20) on the test images
before and after; the loss curve, time, memory and command go into one JSON.
"""

import argparse
import json
import os
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from counterpoint.data import Splits, open_data
from counterpoint.evaluation import Representation
from counterpoint.evaluation.knn import knn
from counterpoint.framework import Draw, contrast
from counterpoint.framework.model import Model
from counterpoint.methods import named, training_of
from counterpoint.pretraining import pretrain
from counterpoint.run import versions

K = 20


def accuracy(model: Model, splits: Splits, *, bank: int, queries: int) -> float:
    """Classify the first test images by their neighbours among evenly spaced training images."""
    represent = Representation(model)
    chosen = torch.arange(0, len(splits.train), len(splits.train) // bank)
    known, asked = represent(splits.train.images[chosen]), represent(splits.test.images[:queries])
    predicted = knn(known, splits.train.labels[chosen], asked, k=K)
    return float((predicted == splits.test.labels[:queries]).double().mean())


def seconds_a_step(name: str, splits: Splits, batch: int) -> float:
    """Time a step, to fit the run into its minutes."""
    model, index = named(name, size=32).build(image=(3, 32, 32)), torch.arange(batch)
    for step in range(3):
        started = time.perf_counter()
        views = model.views(splits.train.images[:batch], Draw(0, step, index))
        contrast(model, views, index).backward()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    parser.add_argument("--bank", type=int, default=45_000)
    parser.add_argument("--queries", type=int, default=10_000)
    given = parser.parse_args()
    splits = open_data(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10")
    training = training_of(given.method)
    steps = int(60 * given.minutes / (1.1 * seconds_a_step(given.method, splits, training.batch)))
    torch.manual_seed(training.seed)
    random = named(given.method, size=32).build(image=(3, 32, 32))
    scale = {"bank": given.bank, "queries": given.queries}
    before = accuracy(random, splits, **scale)
    folder = Path("runs") / given.method
    started = time.monotonic()
    run = pretrain(given.method, splits, out=folder, steps=steps, training=replace(training))
    seconds = time.monotonic() - started
    record = {
        "method": given.method,
        "fingerprint": run.method.fingerprint,
        "command": f"scripts/bench learn {' '.join(sys.argv[1:])}",
        "knn, random weights": before,
        "knn, trained": accuracy(run.model, splits, **scale),
        **scale,
        "steps": steps,
        "images": steps * training.batch,
        "seconds": seconds,
        "threads": torch.get_num_threads(),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "losses": _losses(folder),
        "versions": versions(),
    }
    (given.out / f"learn-{given.method}.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps({k: v for k, v in record.items() if k not in ("losses", "versions")}))


def _losses(folder: Path) -> list[float]:
    """Read the loss curve that the run wrote."""
    (file,) = sorted(folder.rglob("metrics.csv"))[-1:]
    heading, *rows = (line.split(",") for line in file.read_text().splitlines())
    column = heading.index("loss")
    return [float(row[column]) for row in rows if row[column]]


if __name__ == "__main__":
    main()
