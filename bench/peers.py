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
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.report import Bar, finish

METHODS = ("simclr", "byol")
OURS, RECIPE = "ours, views of 32", "ours, views of 20"
THEIRS = ("lightly", "lightly, our optimiser")
SIDES = (*THEIRS, OURS, RECIPE)
BOUND = "encoder alone, 32"
"""Only the convolutions, forward and backward: what views, heads and loss come on top of."""


class Side:
    """A process that trains on request."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.side"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.peak_mb = 0.0
        """The most memory that the process and its workers ever held together."""
        threading.Thread(target=self._watch, daemon=True).start()

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _watch(self) -> None:
        while self.process.poll() is None:
            self.peak_mb = max(self.peak_mb, sum(map(held_mb, family(self.process.pid))))
            time.sleep(0.1)


def family(pid: int) -> list[int]:
    """List a process and its workers."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return []
    return [pid, *(one for child in children for one in family(int(child)))]


def held_mb(pid: int) -> float:
    """Give the memory of a process, shared pages divided among those that share them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def speed(method: str, *, rounds: int, steps: int, batch: int) -> dict[str, float]:
    """Measure images a second and memory of each side, in turns."""
    sides = {name: Side() for name in (*SIDES, BOUND)}
    times: dict[str, list[float]] = {name: [] for name in sides}
    peaks = dict.fromkeys(sides, 0.0)
    for _ in range(rounds):
        for name, side in sides.items():
            found = side.ask(
                side=name,
                method=method,
                encoder="resnet18",
                steps=steps + 1,
                batch=batch,
                images=4096,
            )
            times[name] += found["seconds"]
            peaks[name] = found["peak_mb"]
            print(
                f"{method} {name}: {batch / statistics.median(times[name]):.1f} images/s",
                file=sys.stderr,
            )
    for side in sides.values():
        side.end()
    whole = {f"{method}, {n}: peak MB with workers": side.peak_mb for n, side in sides.items()}
    each = {f"{method}, {n}: images/s": batch / statistics.median(times[n]) for n in sides}
    return each | {f"{method}, {n}: peak MB": peaks[n] for n in sides} | whole


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


def bars_of(figures: dict[str, float], scores: dict[str, list[float]]) -> list[Bar]:
    bars = []
    for method in METHODS:
        for ours in (OURS, RECIPE):
            slow, fast = (figures[f"{method}, {n}: images/s"] for n in ("lightly", ours))
            bars.append(Bar(f"{method}, {ours}: time, of lightly's", slow / fast, 0.5))
            more, less = (
                figures[f"{method}, {n}: peak MB with workers"] for n in (ours, "lightly")
            )
            bars.append(Bar(f"{method}, {ours}: memory, of lightly's", more / less, 1.0))
            if scores:
                mine = scores[f"{method}, {ours}: linear"]
                theirs = max(
                    (scores[f"{method}, {n}: linear"] for n in THEIRS), key=statistics.fmean
                )
                behind = 100 * (statistics.fmean(theirs) - statistics.fmean(mine))
                spread = 100 * (statistics.stdev(mine) + statistics.stdev(theirs))
                bars.append(Bar(f"{method}, {ours}: points behind lightly's best", behind, spread))
    return bars


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3, help="0 leaves accuracy out")
    parser.add_argument("--images", type=int, default=22_400)
    asked = parser.parse_args()
    figures: dict[str, float] = {}
    scores: dict[str, list[float]] = {}
    for method in METHODS:
        figures |= speed(method, rounds=asked.rounds, steps=asked.steps, batch=64)
        if asked.seeds:
            scores |= accuracy(method, seeds=asked.seeds, images=asked.images, batch=128)
    for name, values in scores.items():
        figures[f"{name}, mean"] = statistics.fmean(values)
        if len(values) > 1:
            figures[f"{name}, spread"] = statistics.stdev(values)
    finish("peers", figures, bars_of(figures, scores if asked.seeds > 1 else {}))


if __name__ == "__main__":
    main()
