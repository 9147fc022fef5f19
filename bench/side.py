"""One side of the comparison with peers, in a process of its own.

It reads requests, one JSON object a line, and answers each with one: the time of every step, the
most memory that this process ever held, and the accuracy of probes if asked for.
"""

import json
import os
import resource
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import nn

from bench.side_lightly import TrainedBy
from bench.side_lightly import train as train_lightly
from bench.step import Clock
from counterpoint.data import ArraySource, Splits, cifar10
from counterpoint.evaluation import Representation, evaluate
from counterpoint.framework import Method, Model
from counterpoint.framework.settings import Training
from counterpoint.methods import METHODS, training_of
from counterpoint.parts.encoders import NarrowResNet, ResNet
from counterpoint.pretraining import pretrain

ENCODERS = {
    "resnet18": ResNet("resnet18"),
    "small": NarrowResNet(),
    "narrow": NarrowResNet(widths=(32, 64, 128)),
}
WIDTHS = {"resnet18": 512, "small": 256, "narrow": 128}
TRAINED_BY: dict[str, TrainedBy] = {
    "lightly": "example",
    "lightly, its benchmark": "benchmark",
    "lightly, our optimiser": "ours",
}
LABELLED = 5_000
IMAGE = (3, 32, 32)


@dataclass(frozen=True)
class Request:
    """Train for `steps` of `batch`; `probe` asks for the accuracy afterwards."""

    side: str
    """One of TRAINED_BY; ours, views of 32; ours, views of 20; or encoder alone."""
    method: str
    encoder: str
    steps: int
    batch: int
    seed: int = 0
    images: int | None = None
    probe: bool = False
    half: bool = False
    """bf16 by autocast."""
    threads: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))


def answer(request: Request, splits: Splits) -> dict[str, Any]:
    torch.set_num_threads(request.threads)
    source = splits.train
    assert isinstance(source, ArraySource)
    if request.images is not None:
        source = source.subset("some", torch.arange(request.images))
    training = training_of(f"{request.method}-small")
    precision = "bf16-mixed" if request.half else "32-true"
    training = replace(training, batch=request.batch, seed=request.seed, precision=precision)
    run = {"ours": _ours, "lightly": _lightly, "encoder": _alone}
    kind = request.side.split()[0].rstrip(",")
    model, seconds = run[kind](request, source, training)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found: dict[str, Any] = {"seconds": seconds, "peak_mb": peak}
    if request.probe:
        result = evaluate(Representation(model), splits.head(LABELLED), probes=("knn", "linear"))
        found |= {probe.name: probe.test for probe in result.probes}
    return found


def _method(request: Request) -> Method:
    method = METHODS[f"{request.method}-small"](ENCODERS[request.encoder], size=32)
    if request.side == "ours, views of 20":
        return method
    # The same heads, and views of 32 pixels: what the peer computes.
    return method.swap(views=METHODS[request.method](size=32).views)


def _ours(request: Request, source: ArraySource, training: Training) -> tuple[Model, list[float]]:
    """Train through `pretrain`, as a user would."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        run = pretrain(
            _method(request),
            source,
            out=Path(folder) / "run",
            training=training,
            steps=request.steps,
            health=False,
            console=Console(file=sys.stderr),
            callbacks=[clock],
        )
    return run.model, [after - before for before, after in pairwise(clock.marks)]


def _lightly(
    request: Request, source: ArraySource, training: Training
) -> tuple[Model, list[float]]:
    """Train the encoder inside lightly's modules; around it is ours only for the probes."""
    torch.manual_seed(training.seed)
    model = METHODS["simclr"](ENCODERS[request.encoder], size=32).build(image=IMAGE)
    backbone: Any = model.encoder.backbone  # type: ignore[union-attr]
    backbone.to(memory_format=torch.contiguous_format)  # as torchvision gives it
    resnet = request.encoder == "resnet18"  # which pools by itself
    seconds = train_lightly(
        request.method,
        backbone if resnet else nn.Sequential(backbone, nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        WIDTHS[request.encoder],
        source.images,
        training,
        steps=request.steps,
        workers=request.threads,
        trained_by=TRAINED_BY[request.side],
        half=request.half,
    )
    return model, seconds[1:]


def _alone(request: Request, _: ArraySource, training: Training) -> tuple[Model, list[float]]:
    """Run nothing but the encoder, on views that are there: no library takes less on this torch."""
    model = METHODS["simclr"](ENCODERS[request.encoder], size=32).build(image=IMAGE)
    backbone: Any = model.encoder.backbone  # type: ignore[union-attr]
    views = torch.randn(2 * training.batch, *IMAGE).to(memory_format=torch.channels_last)
    marks = []
    for _step in range(request.steps):
        if request.method == "byol":  # the slow twin sees both views too
            with torch.no_grad():
                backbone(views)
        backbone(views).mean().backward()
        backbone.zero_grad()
        marks.append(time.perf_counter())
    return model, [after - before for before, after in pairwise(marks)]


def main() -> None:
    warnings.filterwarnings("ignore")
    splits = cifar10(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10")
    for line in sys.stdin:
        print(json.dumps(answer(Request(**json.loads(line)), splits)), flush=True)


if __name__ == "__main__":
    main()
