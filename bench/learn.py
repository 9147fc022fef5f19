"""Do the methods learn? Every `-small` method on CIFAR-10 against its own random encoder.

`scripts/bench learn byol-small`: train as its recipe says, then weighted kNN (k = 20) on test
images before and after; the loss curve, time, memory and command go into one JSON.
"""

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path

import torch

from counterpoint.data import Splits, open_data
from counterpoint.evaluation import Representation
from counterpoint.evaluation.knn import knn
from counterpoint.framework.model import Model
from counterpoint.methods import method_named, training_of
from counterpoint.pretraining import pretrain
from counterpoint.training.callbacks.metrics import EVERY
from counterpoint.version import versions

K = 20


def accuracy(model: Model, splits: Splits, *, bank: int, queries: int) -> float:
    """Classify the first test images by their neighbours among evenly spaced training images."""
    represent = Representation(model)
    chosen = torch.arange(0, len(splits.train), len(splits.train) // bank)
    known, asked = represent(splits.train.images[chosen]), represent(splits.test.images[:queries])
    predicted = knn(known, splits.train.labels[chosen], asked, k=K)
    return float((predicted == splits.test.labels[:queries]).double().mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method")
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    parser.add_argument("--bank", type=int, default=15_000)
    parser.add_argument("--queries", type=int, default=5_000)
    given = parser.parse_args()
    splits = open_data(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10")
    training = training_of(given.method)
    torch.manual_seed(training.seed)
    random = method_named(given.method, size=32).build(image=(3, 32, 32))
    scale = {"bank": given.bank, "queries": given.queries}
    before = accuracy(random, splits, **scale)
    folder = Path("runs") / given.method
    started, worked = time.monotonic(), time.process_time()
    run = pretrain(given.method, splits, out=folder, training=training)
    seconds, worked = time.monotonic() - started, time.process_time() - worked
    record = {
        "method": given.method,
        "fingerprint": run.method.fingerprint,
        "command": f"scripts/bench learn {' '.join(sys.argv[1:])}",
        "knn, random weights": before,
        "knn, trained": accuracy(run.model, splits, **scale),
        **scale,
        "epochs": training.epochs,
        "images": training.epochs * (len(splits.train) // training.batch) * training.batch,
        "seconds": seconds,
        "core minutes": worked / 60,
        "threads": torch.get_num_threads(),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "losses": _losses(folder),
        "versions": versions(),
    }
    (given.out / f"learn-{given.method}.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps({k: v for k, v in record.items() if k not in ("losses", "versions")}))


def _losses(folder: Path) -> list[float]:
    """Read the loss curve that the run wrote, at even distances."""
    (file,) = sorted(folder.rglob("metrics.csv"))[-1:]
    heading, *rows = (line.split(",") for line in file.read_text().splitlines())
    loss, step = heading.index("loss"), heading.index("step")
    return [float(row[loss]) for row in rows if row[loss] and int(row[step]) % EVERY == 0]


if __name__ == "__main__":
    main()
