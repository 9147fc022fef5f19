"""Is a failing run called by its name? Ways to fail, and seven healthy methods, on CIFAR-10.

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
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lightning as L
import torch
from torch import nn

from counterpoint.data import Source, open_data
from counterpoint.evaluation.health import Signs, verdict
from counterpoint.framework import Method, Model
from counterpoint.framework.training import Training
from counterpoint.methods import METHODS, SEVEN, training_of
from counterpoint.parts.encoders import AMDIMEncoder, CPCResNet, NarrowResNet
from counterpoint.parts.similarity import Cosine, ProjectedCosine
from counterpoint.parts.views import HorizontalFlip, Pipeline, Resize
from counterpoint.parts.views.pipelines import CIFAR10
from counterpoint.run import versions
from counterpoint.training.health import HealthWatch
from counterpoint.training.pretrainer import Pretrainer

IMAGES, BATCH, EPOCHS, SEED = 4_096, 64, 2, 0
RESNET = NarrowResNet(widths=(16, 32, 64))
PATCHES = AMDIMEncoder(width=8, rkhs=64, depth=2)
CPC = CPCResNet(blocks=(1, 1, 1), bottlenecks=(16, 32, 32), widths=(32, 64, 128), stem=16, stride=2)
ENCODERS = {"amdim": PATCHES, "yadim": PATCHES, "cpc": CPC}
FINE = ("starting", "healthy", "slow")
"""Words that do not call a run a failure."""
UNCALLED = ("healthy", "slow")
"""The right words for a run that learns."""
NOT_ASKED: tuple[str, ...] = ()
"""For a run that is shown, and of which no word is asked."""


@dataclass(frozen=True)
class Case:
    """One run: what is trained, on what, and which words are right."""

    method: Method
    training: Training
    source: Source
    right: tuple[str, ...]
    prepare: Callable[[Model], None] = lambda _model: None


def small(name: str) -> Method:
    """The `-small` method with a still smaller encoder, so that a run takes half a minute."""
    return METHODS[f"{name}-small"](ENCODERS.get(name, RESNET), size=32)


def recipe(name: str, *, rate: float = 1.0, **settings: Any) -> Training:
    """Its recipe for small batches: half of the rate that it has at its own batch."""
    own = training_of(f"{name}-small")
    lr = own.scaled_lr / 2 * 256 / BATCH * rate
    return replace(own, epochs=EPOCHS, batch=BATCH, lr=lr, seed=SEED, **settings)


def cases(source: Source) -> dict[str, Case]:
    """Every run by its name: failures first."""
    called = ("collapsing", "collapsed", "broken", "trivial")
    simclr, byol, side = small("simclr"), small("byol"), 20
    blind = byol.swap(similarity=Cosine(tau=1.0))
    eager = blind.swap(encoder=replace(blind.encoder, decay=0.0))
    same = simclr.swap(views=Pipeline((Resize(side), CIFAR10)))
    flips = simclr.swap(views=Pipeline((Resize(side), HorizontalFlip(0.5), CIFAR10)))
    sharp = simclr.swap(similarity=ProjectedCosine(hidden=512, tau=0.001))
    grey = Source("grey", torch.full_like(source.images, 128), source.labels)
    one = torch.randint(
        256, (len(source), 3, 1, 1), generator=torch.Generator().manual_seed(SEED)
    ).to(torch.uint8)
    flat = Source("flat", one.expand_as(source.images).contiguous(), source.labels)
    rows = {
        "BYOL without its predictor": Case(blind, recipe("byol"), source, called),
        "... and a twin of decay 0": Case(eager, recipe("byol"), source, called),
        "SimCLR, learning rate x 100": Case(simclr, recipe("simclr", rate=100), source, called),
        "SimCLR, learning rate x 1,000": Case(simclr, recipe("simclr", rate=1000), source, called),
        "CPC, SGD, learning rate 1,000": Case(
            small("cpc"), replace(recipe("cpc"), optimiser="sgd", lr=4000.0), source, called
        ),
        "SimCLR, identical views": Case(same, recipe("simclr"), source, called),
        "SimCLR, views by flips only": Case(flips, recipe("simclr"), source, called),
        "SimCLR, temperature 0.001": Case(sharp, recipe("simclr"), source, called),
        "SimCLR, all images the same": Case(simclr, recipe("simclr"), grey, called),
        "SimCLR, images of one colour": Case(simclr, recipe("simclr"), flat, called),
        "SimCLR, weights of zero": Case(simclr, recipe("simclr"), source, called, zero),
        # Meant to be called slow, and it is not in two epochs: shown as such.
        "SimCLR, learning rate / 1,000": Case(
            simclr, recipe("simclr", rate=0.001), source, NOT_ASKED
        ),
    }
    healthy = {f"{n}-small": Case(small(n), recipe(n), source, UNCALLED) for n in SEVEN}
    return rows | healthy


def zero(model: Model) -> None:
    """Let every convolution begin at zero, as a wrong initialisation would."""
    for module in model.encoder.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.zeros_(module.weight)


def train(case: Case) -> list[Signs]:
    """Train one case and give its looks."""
    L.seed_everything(SEED, verbose=False)
    model = case.method.build(image=(3, 32, 32))
    case.prepare(model)
    steps = EPOCHS * (len(case.source) // BATCH)
    with tempfile.TemporaryDirectory() as folder:
        watch = HealthWatch(case.source, folder)
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
    source = open_data(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10", limit=IMAGES).train
    every = cases(source)
    for name in [] if given.judge else given.only or every:
        started = time.process_time()
        looks = judged(train(every[name]))
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
