"""Operators and host waits of a training step on an accelerator, counted, not timed.

`scripts/bench waits`, or `.venv/bin/python -m bench.waits`, which needs no peers. Each of the
seven methods is trained for some steps by `pretrain` itself, on the pretend accelerator of the
tests, as one of 1 to 1,024 ranks of a fake process group. `--quick` takes fewer of them.

A wait is a point at which the host has to have an answer from the device before it can go on:
`item`, `nonzero`, a copy that blocks. The device runs dry there.
"""

import argparse
import io
import json
import logging
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import lightning as L
import torch
from rich.console import Console

from bench.report import Bar, finish
from counterpoint import pretrain
from counterpoint.data import ArraySource
from counterpoint.framework import Draw
from counterpoint.methods import METHODS, SEVEN, simclr, training_of

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from accelerator import DEVICE, Seen, pretend
from accelerator.shell import on_accelerator, ranks

STEPS = 6
WAITS = 2  # of a step
OPERATORS = 400  # of the views of 256 images
RANKS = (1, 8, 64, 1024)
SHARES = {1: (6, 64), 8: (4, 32), 64: (4,), 1024: (4,)}
"""Images of a rank in a step, by ranks."""


@dataclass
class Steps(L.Callback):
    """What the steps after the first took, the first being allowed to make what is kept."""

    seen: Seen
    operators: list[int] = field(default_factory=list)
    kernels: list[int] = field(default_factory=list)
    waits: list[Counter[str]] = field(default_factory=list)

    def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
        if 1 < trainer.global_step < STEPS:  # the last one also reads its loss, to say it
            self.operators.append(sum(self.seen.operators.values()))
            self.kernels.append(self.seen.kernels)
            self.waits.append(Counter(self.seen.waits))
        self.seen.clear()


def steps_of(name: str, *, count: int, share: int) -> Steps:
    """Train a method as rank 0 of several, with the same number of images on each."""
    torch.manual_seed(0)
    total = (STEPS + 1) * count * share  # an epoch that does not end here
    source = ArraySource("noise", torch.randint(256, (total, 3, 32, 32), dtype=torch.uint8))
    training = replace(training_of(name), batch=count * share)
    with tempfile.TemporaryDirectory() as folder, pretend() as seen, ranks(count):
        steps = Steps(seen)
        pretrain(
            METHODS[name](size=32),
            source,
            out=folder,
            steps=STEPS,
            training=training,
            health=False,
            patience=0,
            save_seconds=1e9,
            console=Console(file=io.StringIO()),
            callbacks=[steps],
            **on_accelerator(ranks=count),
        )
    return steps


@dataclass(frozen=True)
class Grey:
    """A picture that needs no file."""

    height: int = 375
    width: int = 500

    def decode(self, scale: float) -> torch.Tensor:
        size = (3, round(self.height * scale), round(self.width * scale))
        return torch.full(size, 128, dtype=torch.uint8)


def views_of(*, size: int, images: int, files: bool) -> Seen:
    """Make SimCLR's views of images in memory, or finish those that were cut from files."""
    views = simclr(size=size).views.build((3, size, size))
    given = torch.zeros(images, 3, size, size, dtype=torch.uint8)
    here = torch.arange(images)
    with pretend() as seen:
        index = here.to(DEVICE)
        for epoch in (0, 1):  # the first makes what is kept
            cuts = views.cut([Grey()] * images, Draw(0, epoch, here)) if files else ()
            there = tuple(cut.to(DEVICE) for cut in cuts)
            memory = given.to(DEVICE)
            seen.clear()
            draw = Draw(0, epoch, index)
            views.finish(there, draw) if files else views(memory, draw)
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one batch for each number of ranks")
    parser.add_argument("--lines", type=Path, help="a JSON file for the waits by source line")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    figures: dict[str, float] = {}
    bars: list[Bar] = []
    lines: dict[str, dict[str, int]] = {}
    for name in SEVEN:
        for count in RANKS:
            for share in SHARES[count][:1] if asked.quick else SHARES[count]:
                where = f"{name}, {count} ranks x {share} images"
                found = steps_of(f"{name}-small", count=count, share=share)
                worst = max(found.waits, key=lambda waits: sum(waits.values()))
                figures[f"{where}: operators"] = max(found.operators)
                bars.append(Bar(f"{where}: waits", sum(worst.values()), WAITS))
                lines[where] = dict(worst.most_common())
                print(where, max(found.operators), sum(worst.values()), file=sys.stderr)
    size, images = 224, 32 if asked.quick else 256
    for files in (False, True):
        views = views_of(size=size, images=images, files=files)
        where = f"SimCLR's views, {size} px, {images} {'files' if files else 'images in memory'}"
        bars.append(Bar(f"{where}: operators", sum(views.operators.values()), OPERATORS))
        bars.append(Bar(f"{where}: waits", sum(views.waits.values()), 0))
        lines[where] = dict(views.waits.most_common())
    if asked.lines:
        asked.lines.write_text(json.dumps(lines, indent=2) + "\n")
    finish("waits", figures, bars)


if __name__ == "__main__":
    main()
