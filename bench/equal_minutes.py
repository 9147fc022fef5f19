"""SimCLR and BYOL of lightly and ours at equal minutes of all cores: what each learns.

Each side trains the encoder of the `-small` recipes alone on the machine, in batches of 128, in
fp32 or with --half in bf16, which is faster where the processor has units for it.
Some steps are timed first; the rest of the minutes is a division, so that schedules know their
length. lightly trains by the settings of its own CIFAR-10 benchmark and once more by our optimiser;
ours by its recipe. The probes are the same for all: 5,000 labelled images, 5,000 test images.

A seed takes 40 minutes. Its figures are kept as one line of --kept when all sides have run, so that
they are of one sitting; the same command resumes with the next seed. Seeds of other code are not
taken.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.report import Bar, finish
from bench.side_process import Side

METHODS = ("simclr", "byol")
OURS = "ours, views of 20"
THEIRS = ("lightly, its benchmark", "lightly, our optimiser")
BATCH = 128
TIMED = 60
KEPT = Path("docs/results/equal-minutes.jsonl")


def trained(method: str, name: str, seed: int, *, minutes: float, half: bool) -> dict[str, float]:
    """Train one side for its minutes; return accuracy in percent, images seen, real minutes."""
    side = Side()
    about = {
        "side": name,
        "method": method,
        "encoder": "small",
        "batch": BATCH,
        "seed": seed,
        "half": half,
    }
    seconds = statistics.fmean(side.ask(steps=TIMED + 1, **about)["seconds"])
    steps = int(60 * minutes / seconds)
    got = side.ask(steps=steps, probe=True, **about)
    side.end()
    found = {probe: 100 * got[probe] for probe in ("knn", "linear")}
    return found | {"images": float(steps * BATCH), "minutes": sum(got["seconds"]) / 60}


def bars_of(scores: dict[str, list[float]]) -> Iterator[Bar]:
    for method in METHODS:
        mine = scores[f"{method}, {OURS}: linear"]
        theirs = max((scores[f"{method}, {n}: linear"] for n in THEIRS), key=statistics.fmean)
        behind = statistics.fmean(theirs) - statistics.fmean(mine)
        spread = statistics.stdev(mine) + statistics.stdev(theirs)
        yield Bar(f"{method}: points behind lightly's best", behind, spread)


def seed_figures(seed: int, *, minutes: float, half: bool) -> dict[str, float]:
    """Train all sides with one seed."""
    figures = {}
    for method in METHODS:
        for name in (OURS, *THEIRS):
            found = trained(method, name, seed, minutes=minutes, half=half)
            print(f"{method} {name} seed {seed}: {found}", file=sys.stderr, flush=True)
            figures |= {f"{method}, {name}: {key}": value for key, value in found.items()}
    return figures


def code() -> list[str]:
    """Return git's names for the code that is measured, as committed."""
    words = ["git", "rev-parse", "HEAD:src", "HEAD:bench"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def every_seed(
    kept: Path, seeds: int, *, minutes: float, half: bool
) -> dict[int, dict[str, float]]:
    """Read the seeds that are kept, run the others, and keep each as it is finished."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    records = [json.loads(line) for line in lines]
    same = {"minutes": minutes, "half": half, "code": code()}
    mine = [one for one in records if all(one.get(key) == value for key, value in same.items())]
    done = {one["seed"]: one["figures"] for one in mine}
    for seed in range(seeds):
        if seed in done:
            continue
        done[seed] = seed_figures(seed, minutes=minutes, half=half)
        record = {"seed": seed, **same, "figures": done[seed]}
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.open("a") as file:
            file.write(json.dumps(record) + "\n")
    return {seed: done[seed] for seed in range(seeds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seeds", type=int, default=3, help="at least 2")
    parser.add_argument("--kept", type=Path, default=KEPT, help="a line for each finished seed")
    parser.add_argument("--half", action="store_true", help="bf16 by autocast, on all sides")
    asked = parser.parse_args()
    found = every_seed(asked.kept, asked.seeds, minutes=asked.minutes, half=asked.half)
    scores = {key: [one[key] for one in found.values()] for key in found[0]}
    figures = {}
    for key, values in scores.items():
        figures[f"{key}, mean"] = statistics.fmean(values)
        figures[f"{key}, spread"] = statistics.stdev(values)
    finish("equal_minutes", figures, list(bars_of(scores)))


if __name__ == "__main__":
    main()
