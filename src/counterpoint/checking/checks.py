"""The checks, each with a verdict in words."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from counterpoint.checking.ranks import batch, gradient_difference
from counterpoint.evaluation.placing import best_device, device_of
from counterpoint.framework import Method, Model, contrast
from counterpoint.training.cost import NUMBER, activation_numbers, trained_parameters
from counterpoint.training.step import update

EXACT = 1e-9  # of the largest gradient, in float64
CLOSE = 0.02  # of the loss: bf16 has three digits
STEPS = 40
LISTED = 12
"""Weights without a gradient that are named."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was looked at, what was found, and whether it passed.

    >>> CheckResult("gradients", "58 of 58 weights have a gradient", well=True).well
    True
    """

    name: str
    found: str
    well: bool


def check(
    method: Method,
    image: tuple[int, ...],
    *,
    count: int = 16,
    parts: str | None = None,
    device: str | torch.device | None = None,
) -> Iterator[CheckResult]:
    """Build a method, train it on one batch and compare it with itself; verdict by verdict.

    `device` is an accelerator if there is one. One process and two are compared on the CPU, in
    float64, on any machine.

    >>> from counterpoint import simclr_small
    >>> first = next(check(simclr_small(), (3, 16, 16), count=4, device="cpu"))
    >>> first.name, first.well
    ('size', True)
    """
    there = best_device() if device is None else torch.device(device)
    model = _built(method, image, there)
    yield _size(model)
    yield _cost(model, image, count)
    yield _reached(model, image, count)
    yield _precision(method, image, count, there)
    yield _overfits(method, image, count, there)
    yield _ranks(method, image, count, parts)


def _built(method: Method, image: tuple[int, ...], device: torch.device) -> Model:
    """Build the same model every time."""
    torch.manual_seed(0)
    return method.build(image=image).to(device)


def _size(model: Model) -> CheckResult:
    weights, numbers = trained_parameters(model), activation_numbers(model)
    bytes_of = weights * NUMBER / 2**20, numbers * NUMBER / 2**20
    memory = f"{bytes_of[0]:.1f} MiB, {bytes_of[1]:.2f} MiB of activations a view"
    return CheckResult("size", f"{weights:,} weights, {memory}", well=True)


def _cost(model: Model, image: tuple[int, ...], count: int) -> CheckResult:
    """Time the parts of a step; the second one, when everything is warm."""
    device = device_of(model)
    for step in (0, 1):
        marks = [_now(device)]
        views, samples = batch(model, image, count, step)
        marks.append(_now(device))
        loss = contrast(model, views, samples)
        marks.append(_now(device))
        loss.backward()
        marks.append(_now(device))
    views_ms, forward_ms, backward_ms = (
        1000 * (after - before) / count for before, after in pairwise(marks)
    )
    found = f"{views_ms:.2f} views, {forward_ms:.2f} forward, {backward_ms:.2f} backward"
    return CheckResult("milliseconds an image", found, well=True)


def _now(device: torch.device) -> float:
    """Read the clock when the device has done what it was asked for."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
    return time.perf_counter()


def _reached(model: Model, image: tuple[int, ...], count: int) -> CheckResult:
    """See whether a step moves every weight that is to be trained."""
    model.zero_grad()
    for step in (0, 1):  # a queue is empty in the first
        views, samples = batch(model, image, count, step)
        contrast(model, views, samples).backward()
    trained = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    missing = [name for name, p in trained if p.grad is None]
    found = f"{len(trained) - len(missing)} of {len(trained)} weights have a gradient"
    if missing:
        more = f" and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
        found += f"; saved as they started: {', '.join(missing[:LISTED])}{more}"
    return CheckResult("gradients", found, not missing)


def _precision(
    method: Method, image: tuple[int, ...], count: int, device: torch.device
) -> CheckResult:
    losses = []
    for half in (False, True):
        model = _built(method, image, device)
        for step in (0, 1):
            views, samples = batch(model, image, count, step)
            with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=half):
                loss = contrast(model, views, samples)
        losses.append(float(loss))
    apart = abs(losses[0] - losses[1]) / max(abs(losses[0]), 1e-12)
    return CheckResult("fp32 and bf16", f"losses differ by {apart:.2%}", apart < CLOSE)


def _overfits(
    method: Method, image: tuple[int, ...], count: int, device: torch.device
) -> CheckResult:
    """Train on the same views again and again: a loss that cannot fall there never will."""
    model = _built(method, image, device)
    for step in (1, 2):  # other images, for a queue or a bank to remember; then it rests
        others, who = batch(model, image, count, step)
        contrast(model, others, who)
    if isinstance(model.extraction, nn.Module):
        model.extraction.eval()
    views, samples = batch(model, image, count, 0)
    chosen = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    losses: list[float] = []
    for _ in range(STEPS):
        loss: Tensor = contrast(model, views, samples)
        update(model, loss, chosen)
        losses.append(float(loss.detach()))
    first, last = losses[0], min(losses[-5:])
    found = f"the loss of one batch goes from {first:.3g} to {last:.3g} in {STEPS} steps"
    return CheckResult("learning", found, last < 0.9 * first)


def _ranks(method: Method, image: tuple[int, ...], count: int, parts: str | None) -> CheckResult:
    apart = gradient_difference(method, parts, image, count)
    found = f"gradients differ by {apart:.1e} of the largest"
    return CheckResult("one process and two", found, apart < EXACT)
