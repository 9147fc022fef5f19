"""SimCLR and BYOL of lightly and ours at equal minutes of all cores: what each learns.

Each side trains the encoder of the `-small` recipes alone on the machine, fp32, in batches of 128.
Some steps are timed first; the rest of the minutes is a division, so that schedules know their
length. lightly trains by the settings of its own CIFAR-10 benchmark and once more by our optimiser;
ours by its recipe. The probes are the same for all: 5,000 labelled images, 5,000 test images.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator

from bench.report import Bar, finish
from bench.side_process import Side

METHODS = ("simclr", "byol")
OURS = "ours, views of 20"
THEIRS = ("lightly, its benchmark", "lightly, our optimiser")
BATCH = 128
TIMED = 60


def trained(method: str, name: str, seed: int, *, minutes: float) -> dict[str, float]:
    """Train one side for its minutes; return accuracy in percent, images seen, real minutes."""
    side = Side()
    about = {"side": name, "method": method, "encoder": "small", "batch": BATCH, "seed": seed}
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seeds", type=int, default=3, help="at least 2")
    asked = parser.parse_args()
    scores: dict[str, list[float]] = {}
    for seed in range(asked.seeds):
        for method in METHODS:
            for name in (OURS, *THEIRS):
                found = trained(method, name, seed, minutes=asked.minutes)
                print(f"{method} {name} seed {seed}: {found}", file=sys.stderr, flush=True)
                for key, value in found.items():
                    scores.setdefault(f"{method}, {name}: {key}", []).append(value)
    figures = {}
    for key, values in scores.items():
        figures[f"{key}, mean"] = statistics.fmean(values)
        figures[f"{key}, spread"] = statistics.stdev(values)
    finish("equal_minutes", figures, list(bars_of(scores)))


if __name__ == "__main__":
    main()
