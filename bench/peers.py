"""SimCLR and BYOL of lightly, from its documented examples, and ours: speed, memory, accuracy.

Speed and memory: ResNet-18 with the small-image stem on CIFAR-10, end to end. Each side is a
process of its own; they take turns, and a round is some steps after one that warms up. Memory is
that of a side's process and, next to it, of the process with all its workers.
Accuracy: a narrow ResNet that two cores can train, the same for all, and the same number of images
seen; probes by our protocol for all.
lightly trains as its example says (SGD without momentum, 0.06), and once more with the optimiser
and schedule that ours has. Bars of time and memory are against its example.
"""

import argparse
import os
import statistics
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product

from bench.report import Bar, finish
from bench.side_process import Side

METHODS = ("simclr", "byol")
OURS, RECIPE = "ours, views of 32", "ours, views of 20"
THEIRS = ("lightly", "lightly, our optimiser")
SIDES = (*THEIRS, OURS, RECIPE)
BOUND = "encoder alone, 32"
"""Only the convolutions, forward and backward: what views, heads and loss come on top of."""


def speed(method: str, *, rounds: int, steps: int, batch: int) -> dict[str, float]:
    """Measure memory of each side, then images a second, in turns."""
    sides = {name: Side() for name in (*SIDES, BOUND)}
    about = {"method": method, "encoder": "resnet18", "batch": batch, "images": 4096}
    found: dict[str, float] = {}
    for name, side in sides.items():
        answer, whole = side.ask_watched(side=name, steps=2, **about)
        found[f"{method}, {name}: peak MB"] = answer["peak_mb"]
        found[f"{method}, {name}: peak MB with workers"] = whole
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            times[name] += side.ask(side=name, steps=steps + 1, **about)["seconds"]
            images = batch / statistics.median(times[name])
            print(f"{method} {name}: {images:.1f} images/s", file=sys.stderr)
    for name, side in sides.items():
        side.end()
        found[f"{method}, {name}: images/s"] = batch / statistics.median(times[name])
    return found


def accuracy(method: str, *, seeds: int, images: int, batch: int) -> dict[str, list[float]]:
    """Train each side with each seed, one a core; give the accuracy of probes on test images."""

    def train(seed: int, name: str) -> dict[str, float]:
        side = Side()
        got = side.ask(
            side=name,
            method=method,
            encoder="narrow",
            steps=images // batch,
            batch=batch,
            seed=seed,
            probe=True,
            threads=1,
        )
        side.end()
        print(f"{method} {name} seed {seed}: linear {got['linear']:.4f}", file=sys.stderr)
        return {f"{method}, {name}: {probe}": got[probe] for probe in ("knn", "linear")}

    each = [(seed, name) for seed in range(seeds) for name in SIDES]
    found: dict[str, list[float]] = {}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as cores:
        for scores in cores.map(lambda one: train(*one), each):
            for key, score in scores.items():
                found.setdefault(key, []).append(score)
    return found


def bars_of_speed(figures: dict[str, float]) -> Iterator[Bar]:
    for method, ours in product(METHODS, (OURS, RECIPE)):
        slow, fast = (figures[f"{method}, {n}: images/s"] for n in ("lightly", ours))
        yield Bar(f"{method}, {ours}: time, of lightly's", slow / fast, 0.5)
        more, less = (figures[f"{method}, {n}: peak MB with workers"] for n in (ours, "lightly"))
        yield Bar(f"{method}, {ours}: memory, of lightly's", more / less, 1.0)


def bars_of_accuracy(scores: dict[str, list[float]]) -> Iterator[Bar]:
    for method, ours in product(METHODS, (OURS, RECIPE)):
        mine = scores[f"{method}, {ours}: linear"]
        theirs = max((scores[f"{method}, {n}: linear"] for n in THEIRS), key=statistics.fmean)
        behind = 100 * (statistics.fmean(theirs) - statistics.fmean(mine))
        spread = 100 * (statistics.stdev(mine) + statistics.stdev(theirs))
        yield Bar(f"{method}, {ours}: points behind lightly's best", behind, spread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="0 leaves speed and memory out")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3, help="0 leaves accuracy out")
    parser.add_argument("--images", type=int, default=22_400)
    asked = parser.parse_args()
    figures: dict[str, float] = {}
    scores: dict[str, list[float]] = {}
    for method in METHODS:
        if asked.rounds:
            figures |= speed(method, rounds=asked.rounds, steps=asked.steps, batch=64)
        if asked.seeds:
            scores |= accuracy(method, seeds=asked.seeds, images=asked.images, batch=128)
    bars = list(bars_of_speed(figures)) if asked.rounds else []
    bars += bars_of_accuracy(scores) if asked.seeds > 1 else []
    for name, values in scores.items():
        figures[f"{name}, mean"] = statistics.fmean(values)
        if len(values) > 1:
            figures[f"{name}, spread"] = statistics.stdev(values)
    finish("peers", figures, bars)


if __name__ == "__main__":
    main()
