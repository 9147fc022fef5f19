"""Candidates in slices: the memory that they save, and the time that they cost.

`scripts/bench ranks slices`, or `.venv/bin/python -m bench.ranks slices`, which needs no peers.

Memory: the loss of AMDIM (49 places of an image, clipped scores, its penalty) on one rank of 1,024
of torch's fake process group, forward and backward, in a fresh process for each number of
slices: the peak of its memory above what it has before. Time: two gloo processes on this
machine, forward and backward, the numbers of slices in turn; the ratio is of medians. SimCLR's
loss has as many anchors as candidates of its own, AMDIM's one anchor for 49 of them, so that
the wire weighs more.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from bench.report import Bar, finish
from counterpoint.framework import Comparison, Samples
from counterpoint.framework.wire import Exchange
from counterpoint.framework.world import Once
from counterpoint.parts.losses import NCE, Penalised
from counterpoint.parts.similarity import ScaledDot
from counterpoint.training.distributed import Ranks

OUT = Path(__file__).parents[2] / "docs" / "results" / "ranks-slices.json"
RANKS, IMAGES, PLACES, WIDTH = 1024, 4, 49, 256
SLICES = (1, 2, 4, 8, 16)
TIMED = (1, 2, 5, 16)
CASES = {
    "simclr": (1024, 1, 128),
    "amdim": (64, 49, 256),
    "simclr, large": (4096, 1, 128),
    "amdim, large": (256, 49, 1024),
}
"""Anchors of a rank, candidates for each, and their width: 1, 6, 4 and 103 MB of all candidates."""


def comparison(images: int, places: int, width: int, rank: int) -> tuple[Comparison, Ranks]:
    """An anchor for each image, all places of it as candidates."""
    ranks = dist.get_world_size()
    every = torch.arange(images * ranks)
    own = every.tensor_split(ranks)[rank]
    world = Ranks(batch=len(every), samples=every)

    def identify(samples: Samples) -> torch.Tensor:
        return samples.index[:, None].expand(-1, places).flatten()

    generator = torch.Generator().manual_seed(rank)
    compared = Comparison(
        anchors=torch.randn(images, width, generator=generator).requires_grad_(),
        candidates=torch.randn(images * places, width, generator=generator).requires_grad_(),
        anchor_identity=own,
        candidate_identity=identify(Samples(own)),
        everyone=world.everyone(identify),
    )
    return compared, world


def step(compared: Comparison, world: Ranks, width: int, slices: int) -> None:
    """Score and learn, as `contrast` does."""
    sliced = Ranks(batch=world.batch, samples=world.samples, rounds=slices, budget=1e18)
    scores = ScaledDot().build(width, width)(compared, Once(sliced, in_slices=True))
    assert (scores.slices is None) == (slices == 1)
    terms = Penalised(of=NCE()).build(scores.bound)(scores, sliced)
    terms.total.backward()


def measure_memory(slices: int) -> None:
    """Print the peak of this process above what it had, in bytes."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=1, world_size=RANKS)
    step(*comparison(2, 2, 8, 1), 8, 2)  # what is loaded for the first time
    compared, world = comparison(IMAGES, PLACES, WIDTH, 1)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    step(compared, world, WIDTH, slices)
    print(json.dumps(_status("VmHWM") - before))


def measure_time(rank: int, store: str, repeats: int) -> None:
    """Print the seconds of a step of each case and number of slices, those of rank 0."""
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    found: dict[str, list[float]] = {}
    for case, shape in CASES.items():
        compared, world = comparison(*shape, rank)
        for number in range(repeats + 1):
            for slices in TIMED:
                dist.barrier()
                begun = time.perf_counter()
                step(compared, world, shape[-1], slices)
                dist.barrier()
                if number:
                    seconds = time.perf_counter() - begun
                    found.setdefault(f"{case}, {slices} slices", []).append(seconds)
    if rank == 0:
        print(json.dumps(found))


def main(arguments: list[str]) -> None:
    """Measure both, write docs/results/ranks-slices.json, and exit 1 where a bar is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", type=int)
    parser.add_argument("--rank", type=int)
    parser.add_argument("--store")
    parser.add_argument("--repeats", type=int, default=15)
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if asked.memory:
        measure_memory(asked.memory)
        return
    if asked.rank is not None:
        measure_time(asked.rank, asked.store, asked.repeats)
        return
    held = {slices: _output(_child("--memory", str(slices))) for slices in SLICES}
    with tempfile.TemporaryDirectory() as folder:
        more = "--store", f"{folder}/store", "--repeats", str(asked.repeats)
        children = [_child("--rank", str(rank), *more) for rank in (0, 1)]
        seconds = _output(children[0])
        children[1].wait()
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    formula = {n: Exchange(IMAGES * PLACES, WIDTH, gradient=True, slices=n) for n in SLICES}
    figures = {f"peak MB, {n} slices": held[n] / 1e6 for n in SLICES}
    figures |= {f"formula MB, {n} slices": formula[n].held(RANKS) / 1e6 for n in SLICES}
    figures |= {f"step ms, {name}": 1e3 * median for name, median in medians.items()}
    bars = [
        Bar(
            f"time of {case}, {n} slices / at once",
            medians[f"{case}, {n} slices"] / medians[f"{case}, 1 slices"],
            1.1,
        )
        for case in CASES
        for n in TIMED[1:]
    ]
    bars += [
        Bar(f"peak of {n} slices / formula", held[n] / formula[n].held(RANKS), 1.1)
        for n in SLICES[1:]
    ]
    record = {"figures": figures, "ratios": {bar.name: bar.value for bar in bars}}
    OUT.write_text(json.dumps(record, indent=1) + "\n")
    finish("ranks slices", figures, bars)


def _child(*words: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    if "--memory" in words:
        environment["MALLOC_MMAP_THRESHOLD_"] = "262144"  # what is freed goes back at once
    command = [sys.executable, "-m", "bench.ranks", "slices", *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def _output(process: "subprocess.Popen[str]") -> Any:
    said, _ = process.communicate(timeout=600)
    return json.loads(said.strip().splitlines()[-1])


def _status(name: str) -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if name in line]
    return int(line.split()[1]) * 1024
