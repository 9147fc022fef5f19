"""What a study will take, without running it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from counterpoint.job import Job
from counterpoint.progress import tracked
from counterpoint.study.budget import Seconds, StepCost
from counterpoint.study.learning_rate import short_steps
from counterpoint.study.trial import Trial
from counterpoint.study.trial_job import absent, job_of, opened
from counterpoint.training.cost import memory_of, step_flops


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One trial before it runs."""

    trial: Trial
    steps: int
    flops: float
    """Of training, the choice of a rate included; evaluation comes on top."""
    seconds: float
    gigabytes: float
    """Weights, gradients, states and activations of a step."""


def plan_trials(trials: Sequence[Trial], *, speed: float) -> list[Planned]:
    """Plan trials on a machine that does `speed` operations a second; data is not needed."""
    return [_planned(trial, speed) for trial in tracked(trials, "planning")]


def _planned(trial: Trial, speed: float) -> Planned:
    job = _job(trial)
    with torch.device("meta"):
        model = job.method.build(image=job.image)
    if trial.kind == "random":
        return Planned(trial=trial, steps=0, flops=0.0, seconds=0.0, gigabytes=0.0)
    flops = step_flops(job.method, job.image, job.training.batch)
    steps = trial.budget.steps(StepCost(job.training.batch, flops, flops / speed))
    all_steps = steps + len(trial.rates) * short_steps(steps)
    timed = isinstance(trial.budget, Seconds)
    return Planned(
        trial=trial,
        steps=steps,
        flops=all_steps * flops,
        seconds=trial.budget.n * all_steps / steps if timed else all_steps * flops / speed,
        gigabytes=memory_of(model, job.training).total / 1e9,
    )


def _job(trial: Trial) -> Job:
    # A classifier's few classes cost less than the comparisons of a method, and need labels.
    asked = replace(trial, kind="pretrain") if trial.kind == "supervised" else trial
    try:
        splits = opened(trial)
    except (FileNotFoundError, ValueError):
        splits = absent(trial)
    return job_of(asked, splits)


def machine_speed(*, seconds: float = 1.0) -> float:
    """Measure operations a second of this machine on convolutions, forward and backward."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    layer = nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 1))
    layer, images = layer.to(device), torch.randn(32, 64, 16, 16, device=device)
    with FlopCounterMode(display=False) as counter:
        layer(images).sum().backward()
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        layer(images).sum().backward()
        count += 1
    if device == "cuda":
        torch.cuda.synchronize()
    return float(counter.get_total_flops()) * count / (time.perf_counter() - started)
