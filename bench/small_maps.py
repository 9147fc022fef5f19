"""The weight gradient of convolutions in bf16 on a CPU: torch's kernel against one product.

First of layers alone, which says up to how many places the product is faster; then of training
steps, where both sides train the same model on the same batches. Both take turns.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import torch
from torch.nn.grad import conv2d_weight

from bench.report import Bar, finish
from counterpoint.data import Batches, Source, cifar10
from counterpoint.framework import Method
from counterpoint.framework.settings import Training
from counterpoint.methods import METHODS, training_of
from counterpoint.parts.encoders import ResNet
from counterpoint.parts.views import pipelines
from counterpoint.training.optimisers import optimiser
from counterpoint.training.small_maps import multiply_small_maps, weight_gradient
from counterpoint.training.step import train_step

IMAGE = (3, 32, 32)
LAYERS = (  # images, channels in and out, side of the map that goes in, stride
    (512, 256, 256, 2, 1),
    (512, 128, 256, 4, 2),
    (512, 128, 128, 4, 1),
    (512, 64, 128, 8, 2),
    (256, 512, 512, 4, 1),
    (256, 256, 512, 8, 2),
    (512, 16, 16, 4, 1),
    (512, 32, 32, 4, 1),
    (512, 64, 64, 5, 1),
    (512, 128, 128, 5, 1),
    (512, 64, 128, 10, 2),
    (512, 64, 64, 6, 1),
    (512, 128, 128, 6, 1),
    (512, 64, 64, 8, 1),
    (256, 256, 256, 8, 1),
)
SMALL = METHODS["simclr-small"](size=32)
CASES = {
    "simclr-small": (SMALL, 256),
    "simclr-small, crops of 16": (
        SMALL.swap(views=pipelines.simclr_views(16, smallest=0.25, evaluation=32)),
        256,
    ),
    "ResNet-18": (METHODS["simclr"](ResNet("resnet18"), size=32), 64),
}


def layer_times(
    images: int, before: int, after: int, side: int, stride: int
) -> Iterator[tuple[float, float]]:
    """Yield how long torch and the product take for the gradient of a 3 x 3 layer's weights."""
    wide = {"dtype": torch.bfloat16, "memory_format": torch.channels_last}
    maps = torch.randn(images, before, side, side).to(**wide)
    weight = torch.randn(after, before, 3, 3).to(**wide)
    step, pad = (stride, stride), (1, 1)
    gradient = torch.nn.functional.conv2d(maps, weight, None, step, pad)
    while True:
        marks = [time.perf_counter()]
        conv2d_weight(maps, weight.shape, gradient, step, pad)
        marks.append(time.perf_counter())
        weight_gradient(maps, gradient, (3, 3), step, pad)
        marks.append(time.perf_counter())
        yield marks[1] - marks[0], marks[2] - marks[1]


def layer_ratio(rounds: int, *layer: int) -> float:
    """Return the median time of the product, of torch's."""
    times = list(islice(layer_times(*layer), 2, rounds + 2))
    return statistics.median(ours / theirs for theirs, ours in times)


def side(
    method: Method, training: Training, source: Source, *, product: bool
) -> Callable[[], float]:
    """Return a function that trains one step and says how long it took."""
    torch.manual_seed(0)
    model = method.build(image=IMAGE)
    if product:
        multiply_small_maps(model)
    chosen = optimiser(model, training)
    batches = endless(source, model.views.cut, training)

    def step() -> float:
        given = next(batches)
        start = time.perf_counter()
        train_step(model, given, chosen, source, precision=training.precision)
        return time.perf_counter() - start

    return step


def endless(source: Source, cut: object, training: Training) -> Iterator:
    while True:
        yield from Batches(source, batch=training.batch, seed=training.seed, cut=cut)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    source = cifar10(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10").train
    figures = {}
    for layer in LAYERS:
        images, before, after, width, stride = layer
        places = (-(-width // stride)) ** 2
        name = f"{images} x {before} x {width} x {width} to {after} channels, {places} places"
        figures[f"{name}: time of the product, of torch's"] = layer_ratio(asked.rounds, *layer)
    for name, (method, batch) in CASES.items():
        training = training_of("simclr-small", batch=batch, precision="bf16-mixed")
        sides = [side(method, training, source, product=product) for product in (False, True)]
        times = [[step() for step in sides] for _ in range(asked.rounds + 2)][2:]
        torchs, ours = (statistics.median(column) for column in zip(*times, strict=True))
        figures[f"{name}: images/s, torch's gradient"] = batch / torchs
        figures[f"{name}: images/s, ours"] = batch / ours
        figures[f"{name}: time of ours, of torch's"] = statistics.median(b / a for a, b in times)
    bars = [
        Bar(key, value, 1.0)
        for key, value in figures.items()
        if key.endswith("time of ours, of torch's")
    ]
    finish("small_maps", figures, bars)


if __name__ == "__main__":
    main()
