"""The plan against what a step takes here: memory and time of the seven methods.

`scripts/bench ranks plan`. The rates of this machine are measured before each method, in turn with
its steps, on one thread and by the processor's clock, since others may be at work on the cores.
Memory is what torch's allocator holds at the peak of forward and backward. Medians of rounds count.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch
from torch.profiler import ProfilerActivity, profile

from bench.report import Bar, finish
from counterpoint.data import ArraySource, Batches
from counterpoint.framework import Draw, Model, contrast
from counterpoint.framework.model import reaching_all
from counterpoint.methods import SEVEN, method_named, training_of
from counterpoint.plan.forecast import Forecast
from counterpoint.plan.here import measured_machine, views_seconds
from counterpoint.plan.machine import Machine
from counterpoint.plan.networks import NETWORKS
from counterpoint.plan.workload import Workload, counts_of
from counterpoint.training.optimisers import optimiser
from counterpoint.training.step import train_step

IMAGES, IMAGE, STEPS = 64, (3, 32, 32), 4
MEMORY, TIME = 1.10, 1.25  # a ratio of two, the larger over the smaller
RESULT = Path(__file__).parents[2] / "docs" / "results" / "ranks-plan.json"


def allocated(model: Model, index: torch.Tensor) -> int:
    """Return the bytes that the allocator held at the peak of forward and backward."""
    images = torch.zeros(len(index), *IMAGE, dtype=torch.uint8)
    views = model.views(images, Draw(0, 0, index))
    model.zero_grad()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        reaching_all(contrast(model, views, index), model).backward()
    events = [e for e in seen.profiler.kineto_results.events() if e.name() == "[memory]"]
    living = peak = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        living += event.nbytes()
        peak = max(peak, living)
    return peak


class Measured:
    """One method on this machine: real steps beside the plan."""

    def __init__(self, name: str) -> None:
        method = method_named(f"{name}-small", size=IMAGE[-1])
        self.training = replace(training_of(f"{name}-small"), batch=IMAGES, accumulate=1)
        pixels = torch.randint(256, (2 * IMAGES, *IMAGE), dtype=torch.uint8)
        self.source = ArraySource("noise", pixels)
        method = method.for_samples(len(self.source))
        self.model = method.build(image=IMAGE)
        self.optimiser = optimiser(self.model, self.training)
        self.load = Workload(method, IMAGE, self.training, len(self.source), 100, name)
        self.batch = next(iter(Batches(self.source, batch=IMAGES, seed=0)))

    def step_seconds(self) -> float:
        """Return the median of some steps, after one that warms up."""
        taken = []
        for _ in range(STEPS):
            started = time.process_time()
            train_step(self.model, self.batch, self.optimiser, self.source)
            taken.append(time.process_time() - started)
        return median(taken[1:])

    def planned(self, machine: Machine) -> Forecast:
        views = views_seconds(self.model, IMAGE, clock=time.process_time)
        return Forecast(self.load, machine, 1, NETWORKS["ndr"], view_seconds=views)


def main(arguments: list[str]) -> None:
    """Measure all methods in turn, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args(arguments).rounds
    torch.set_num_threads(1)
    torch.manual_seed(0)
    methods = {name: Measured(name) for name in SEVEN}
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in SEVEN}
    for _ in range(rounds):
        for name, one in methods.items():
            machine = measured_machine(repeats=3, clock=time.process_time)
            pairs[name].append((one.step_seconds(), one.planned(machine).step_seconds))
            print(name, *(f"{1e3 * value:.1f}" for value in pairs[name][-1]), flush=True)
    rows, bars = {}, []
    for name, one in methods.items():
        ratio = median(planned / taken for taken, planned in pairs[name])
        held = allocated(one.model, torch.arange(IMAGES))
        counted = counts_of(one.load, 1)[1].activations
        rows[name] = {
            "measured ms": 1e3 * median(taken for taken, _ in pairs[name]),
            "planned ms": 1e3 * median(planned for _, planned in pairs[name]),
            "time, planned / measured": ratio,
            "measured MB": held / 1e6,
            "planned MB": counted / 1e6,
            "memory, planned / measured": counted / held,
        }
        bars.append(Bar(f"{name}: time", max(ratio, 1 / ratio), TIME))
        bars.append(Bar(f"{name}: memory", max(counted / held, held / counted), MEMORY))
    settings = {"images": IMAGES, "side": IMAGE[-1], "threads": 1, "rounds": rounds}
    RESULT.write_text(json.dumps(settings | {"methods": rows}, indent=1) + "\n")
    figures = {f"{name}: {key}": value for name, row in rows.items() for key, value in row.items()}
    finish("ranks plan", figures, bars)
