"""Is a failing run called by its name? Ways to fail, and every method as it should be, on CIFAR-10.

`scripts/bench collapse`: two short epochs each, one look before training and one after every epoch.
Prints the table of docs/health.md and writes every sign to docs/results/collapse.json; exits 1 when
a failure is not called or a healthy run is. `--judge` judges what was written again, without
training: for changing the rules of a verdict.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import lightning as L

from bench.collapse_cases import BATCH, EPOCHS, FINE, IMAGES, SEED, UNCALLED, Case, cases
from counterpoint.data import ArraySource, open_data
from counterpoint.evaluation.health import Signs, verdict
from counterpoint.training.callbacks.health_watch import HealthWatch
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.version import versions


def train(case: Case, looked: ArraySource) -> list[Signs]:
    """Train one case and give its looks, at images and with labels of another source."""
    L.seed_everything(SEED, verbose=False)
    model = case.method.build(image=(3, 32, 32))
    case.prepare(model)
    steps = EPOCHS * (len(case.source) // BATCH)
    with tempfile.TemporaryDirectory() as folder:
        watch = HealthWatch(looked, folder)
        trainer = L.Trainer(
            max_steps=steps,
            callbacks=[watch],
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            accelerator="cpu",
        )
        trainer.fit(Pretrainer(model, case.source, case.training, steps=steps))
    return watch.history


def row(record: dict[str, Any]) -> str:
    """One line of the table: verdicts, then figures before training and at the end."""
    first, *_, last = looks = record["looks"]
    words = " | ".join(look["verdict"] for look in looks)

    def both(key: str) -> str:
        return " to ".join("-" if x[key] is None else f"{x[key]:.2g}" for x in (first, last))

    keys = ("rankme", "compared_rank", "compared_deviation", "top1", "surprise", "knn")
    return f"| {record['name']} | {words} | {' | '.join(map(both, keys))} |"


def judged(looks: list[Signs]) -> list[dict[str, Any]]:
    """Write looks with the verdict that each had when it was made."""
    words = [verdict(looks[: place + 1]) for place in range(len(looks))]
    return [
        {"verdict": v.word, "why": v.why, **s.to_dict()} for v, s in zip(words, looks, strict=True)
    ]


def right(record: dict[str, Any]) -> bool:
    """A failure is called in two epochs; a healthy run is never called one, before or after."""
    words = [look["verdict"] for look in record["looks"]]
    if record["right"] == list(UNCALLED):
        return all(word in FINE for word in words)
    return any(word in record["right"] for word in words[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="names of runs; all without")
    parser.add_argument("--out", type=Path, default=Path("docs/results/collapse.json"))
    parser.add_argument("--judge", action="store_true", help="judge what was written, do not train")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    old = json.loads(given.out.read_text())["runs"] if given.out.is_file() else []
    kept = {run["name"]: run for run in old}
    whole = open_data(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10")
    source = whole.head(IMAGES).train
    every = cases(source)
    for name in [] if given.judge else given.only or every:
        started = time.process_time()
        case = every[name]
        # kNN of 300 of all images says more than of 27 of the 4,096.
        looks = judged(train(case, whole.train if case.source is source else case.source))
        kept[name] = {"name": name, "core seconds": time.process_time() - started, "looks": looks}
    for name, run in kept.items():
        run["right"] = list(every[name].right)
        run["looks"] = judged([Signs.from_dict(look) for look in run["looks"]])
    runs = [kept[name] for name in every if name in kept]
    settings = {"images": IMAGES, "batch": BATCH, "epochs": EPOCHS, "seed": SEED}
    record = {"command": "scripts/bench collapse", **settings, "versions": versions(), "runs": runs}
    given.out.write_text(json.dumps(record) + "\n")
    heading = "run | before | epoch 1 | epoch 2 | rank | rank, compared | spread, compared | top-1"
    print(f"| {heading} | surprise | kNN |\n|{'---|' * 10}")
    print("\n".join(map(row, runs)))
    asked = [run for run in runs if run["right"]]
    wrong = [run["name"] for run in asked if not right(run)]
    print(f"{len(asked) - len(wrong)} of {len(asked)} are called rightly; not: {wrong or 'none'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
