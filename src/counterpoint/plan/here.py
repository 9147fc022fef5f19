"""The rates of this machine, measured by a few operators in some seconds."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor

from counterpoint.framework import Draw, Model
from counterpoint.framework.records import Shape
from counterpoint.plan.machine import Machine, Rate
from counterpoint.training.cost import memory_there
from counterpoint.training.operator_count import Kind

Clock = Callable[[], float]
Case = tuple[Callable[[], object], float]
"""A call, and the bytes that it touches."""

CONVOLUTIONS = (
    # images, channels in and out, side, kernel, stride: those of small ResNets and of patches
    (32, 3, 32, 32, 3, 1),
    (32, 32, 32, 32, 3, 1),
    (32, 64, 64, 16, 3, 1),
    (32, 64, 128, 16, 3, 2),
    (32, 128, 128, 8, 3, 1),
    (32, 256, 256, 4, 3, 1),
    (32, 256, 64, 16, 1, 1),
    (32, 64, 256, 16, 1, 1),
    (512, 32, 32, 8, 3, 1),
    (512, 16, 32, 8, 3, 2),
)
SIDES = (128, 512, 1024)  # of square matrices
IMAGES = (64, 64, 32, 32)  # 16 MB: larger than most caches


@dataclass(frozen=True, slots=True)
class Timed:
    """One operator: what it does, and the seconds it took."""

    flops: float
    bytes: float
    seconds: float


def fitted(timed: Sequence[Timed]) -> Rate:
    r"""Fit the two rates of a kind of operators, so that relative errors are least.

    $$ \min_{a, b \ge 0} \sum_i (1 - (a f_i + b m_i) / t_i)^2, \quad F = 1 / a, B = 1 / b $$

    >>> rate = fitted([Timed(100.0, 10.0, 2.0), Timed(100.0, 20.0, 3.0)])
    >>> round(rate.flops, 6), round(rate.bytes, 6)
    (100.0, 10.0)
    """
    shares = [[t.flops / t.seconds, t.bytes / t.seconds] for t in timed]
    rows = torch.tensor(shares, dtype=torch.float64)
    size = rows.norm(dim=0)
    answers = [torch.linalg.lstsq(rows / size, torch.ones(len(rows), 1).double())[0][:, 0] / size]
    for only in (0, 1):  # where one would be negative, the other explains all
        answer = torch.zeros(2).double()
        answer[only] = rows[:, only].sum() / (rows[:, only] ** 2).sum()
        answers.append(answer)
    allowed = [answer for answer in answers if bool((answer >= 0).all())]
    best = min(allowed, key=lambda answer: float((1 - rows @ answer).square().sum()))
    a, b = (round(float(value), 24) for value in best)
    return Rate(1 / a if a else float("inf"), 1 / b if b else float("inf"))


def measured_machine(*, repeats: int = 5, clock: Clock = time.perf_counter) -> Machine:
    """Measure this machine: convolutions and their gradients, products, memory.

    `clock` may be the processor's time, where others are at work on the same cores.
    """
    pairs = [_convolution(shape, repeats, clock) for shape in CONVOLUTIONS]
    rates: dict[Kind, Rate] = {
        "convolution": fitted([forward for forward, _ in pairs]),
        "convolution backward": fitted([backward for _, backward in pairs]),
        "product": fitted([_product(side, repeats, clock) for side in SIDES]),
        "memory": _memory(repeats, clock),
        "in place": _in_place(repeats, clock),
    }
    small = torch.ones(1)
    cores = torch.get_num_threads()
    return Machine(
        name=f"this machine, {cores} thread{'' if cores == 1 else 's'}",
        memory=memory_there(),
        single=rates,
        half=rates,
        start=_seconds(lambda: small + small, repeats * 20, clock),
        link=1e9,  # of gloo on one machine; the plan is for one process
        node=1,
        source="measured here, with 32-true",
    )


def views_seconds(
    model: Model,
    image: Shape,
    *,
    images: int = 64,
    repeats: int = 3,
    clock: Clock = time.perf_counter,
) -> float:
    """Measure the seconds that the views of an image take on the CPU, which compiles them."""
    given, index = torch.zeros(images, *image, dtype=torch.uint8), torch.arange(images)
    return _seconds(lambda: model.views(given, Draw(0, 0, index)), repeats, clock) / images


def _convolution(shape: tuple[int, ...], repeats: int, clock: Clock) -> tuple[Timed, Timed]:
    count, channels, out, side, kernel, stride = shape
    x = torch.randn(count, channels, side, side, requires_grad=channels > 3)
    w = torch.randn(out, channels, kernel, kernel, requires_grad=True)

    def run() -> Tensor:
        return F.conv2d(x, w, padding=kernel // 2, stride=stride)

    y = run()
    gradient = torch.ones_like(y)
    wanted = [w, x] if x.requires_grad else [w]
    forward = _seconds(run, repeats, clock)
    both = _seconds(lambda: torch.autograd.grad(run(), wanted, gradient), repeats, clock)
    flops = 2.0 * y.numel() * channels * kernel**2
    touched = 4.0 * (x.numel() + w.numel() + y.numel())
    again = 4.0 * sum(part.numel() for part in wanted)
    back = Timed(flops * len(wanted), touched + again, max(both - forward, both / 4))
    return Timed(flops, touched, forward), back


def _product(side: int, repeats: int, clock: Clock) -> Timed:
    a = torch.randn(side, side)
    return Timed(2.0 * side**3, 12.0 * side**2, _seconds(lambda: a @ a, repeats, clock))


def _memory(repeats: int, clock: Clock) -> Rate:
    """Measure what makes new memory, as most of a step does."""
    x, kept = torch.randn(IMAGES), torch.zeros(IMAGES)
    size = 4.0 * x.numel()
    cases: tuple[Case, ...] = (
        (lambda: F.batch_norm(x, None, None, training=True), 3 * size),
        (x.relu, 2 * size),
        (lambda: x + kept, 3 * size),
        (lambda: F.avg_pool2d(x, 2), 1.25 * size),
        (lambda: torch.ops.aten.threshold_backward(x, kept, 0), 3 * size),
    )
    return _together(cases, repeats, clock)


def _in_place(repeats: int, clock: Clock) -> Rate:
    """Measure what writes into memory that is there: gradients, updates, tiles of scores."""
    x, kept = torch.randn(IMAGES), torch.zeros(IMAGES)
    tile = torch.zeros(1024, 1024)
    size, small = 4.0 * x.numel(), 4.0 * tile.numel()
    cases: tuple[Case, ...] = (
        (lambda: kept.add_(x), 3 * size),
        (tile.exp_, 2 * small),
        (lambda: tile.mul_(tile[:, :1]), 2 * small),
        (tile.tanh_, 2 * small),
    )
    return _together(cases, repeats, clock)


def _together(cases: Sequence[Case], repeats: int, clock: Clock) -> Rate:
    seconds = sum(_seconds(run, repeats, clock) for run, _ in cases)
    return Rate(float("inf"), sum(touched for _, touched in cases) / seconds)


def _seconds(run: Callable[[], object], repeats: int, clock: Clock) -> float:
    """Return the median time of a call, after one that warms up."""
    run()
    taken = []
    for _ in range(repeats):
        started = clock()
        run()
        taken.append(clock() - started)
    return median(taken)
