"""Is it worth continuing from good weights? caltech20 from EfficientNet-Lite0, before and after.

`scripts/bench use weights`: kNN and linear of the weights as they are, and after continuing with
SimCLR and with BYOL for ten minutes of two cores, three seeds. Ten minutes are a fixed number of
steps, from the core seconds that a step costs, so that the load of a machine changes nothing.
Every result is written as soon as it is there; a second start goes on behind the last one.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.data import Splits, open_data
from counterpoint.encoder_choice import open_encoder
from counterpoint.framework import Method
from counterpoint.framework.settings import Training
from counterpoint.job import Job
from counterpoint.methods import byol_small, simclr
from counterpoint.parts.encoders import Timm
from counterpoint.parts.views import pipelines
from counterpoint.pretraining import built_model, pretrain
from counterpoint.resolve import resolve
from counterpoint.run import Run, versions

NAME = "tf_efficientnet_lite0"
SIDE, BATCH = 96, 64
SIDES = (96, 160, 224)  # at which the weights are measured as they are
BUDGET = 1200  # core seconds: ten minutes of two cores
SEEDS = (0, 1, 2)
K, TAU = 20, 0.1
TRIAL = (2, 6)  # steps of the two short runs whose difference is the cost of a step


def methods() -> dict[str, Method]:
    """Return the two methods, with views of the same size."""
    encoder = Timm(NAME)
    small = byol_small(encoder, size=SIDE)
    return {
        "simclr": simclr(encoder, size=SIDE),
        "byol": small.swap(views=pipelines.byol_views(SIDE)),
    }


def job_of(method: Method, data: Path, file: Path, *, seed: int, steps: int) -> Job:
    """Return a job that continues from the weights."""
    training = Training(optimiser="adamw", lr=3e-4, batch=BATCH, weight_decay=0.05, epochs=1)
    job = resolve(method, data, weights=file, size=SIDE, steps=steps, training=training)
    return replace(job, training=replace(training, seed=seed), workers=1)


def left_out(vectors: Float[Tensor, "n d"], labels: Int64[Tensor, " n"]) -> float:
    """Classify every image by its nearest among all others."""
    near = F.normalize(vectors, dim=1)
    cosine = near @ near.T
    cosine.fill_diagonal_(-torch.inf)
    found = cosine.topk(K, dim=1)
    votes = torch.zeros(len(labels), int(labels.max()) + 1)
    votes.scatter_add_(1, labels[found.indices], torch.exp((found.values - 1) / TAU))
    return float((votes.argmax(dim=1) == labels).double().mean())


def measured(run: Run, splits: Splits) -> dict[str, Any]:
    """Return kNN and linear on the test images, and kNN with each of all images left out."""
    result = run.evaluate(splits, probes=("knn", "linear"), workers=1)
    whole = (splits.train, splits.validation, splits.test)
    vectors = torch.cat([run.embed(source, workers=1) for source in whole])
    labels = torch.cat([source.labels_of(torch.arange(len(source))) for source in whole])
    found: dict[str, Any] = {"loo": left_out(vectors, labels), "width": result.width}
    for probe in result.probes:
        found[probe.name] = probe.test
        found[f"{probe.name} interval"] = [probe.low, probe.high]
    return found


def core_seconds() -> float:
    """Return the time that processors worked for this process and those it waited for."""
    each = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, each))


def step_cost(method: Method, data: Path, file: Path) -> float:
    """Return the core seconds of a step: the difference of two short runs has no start in it."""
    cost = []
    for steps in TRIAL:
        with tempfile.TemporaryDirectory() as place:
            begun = core_seconds()
            job = job_of(method, data, file, seed=0, steps=steps)
            pretrain(job, out=Path(place) / "run", health=False)
            cost.append(core_seconds() - begun)
    return (cost[1] - cost[0]) / (TRIAL[1] - TRIAL[0])


def table(record: dict[str, Any]) -> str:
    """Write the results as a table: the mean over seeds, and each seed's figure behind it."""
    kinds = ("knn", "linear", "loo")
    lines = [
        "| encoder | steps | kNN, test | linear, test | kNN, each image left out |",
        "|---|---|---|---|---|",
        "| the weights, 96 px | 0 | "
        + " | ".join(f"{record['before'][k]:.3f}" for k in kinds)
        + " |",
    ]
    for name, steps in record.get("steps", {}).items():
        runs = [run for run in record["runs"] if run["method"] == name]
        if not runs:
            continue
        cells = [
            f"{sum(run[k] for run in runs) / len(runs):.3f} "
            f"({', '.join(f'{run[k]:.3f}' for run in runs)})"
            for k in kinds
        ]
        lines.append(f"| continued by {name}, 96 px | {steps} | {' | '.join(cells)} |")
    for side, found in record.get("as they are", {}).items():
        cells = [f"{found[k]:.3f}" for k in kinds]
        lines.append(f"| the weights as timm sees them, {side} px | 0 | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/results/use-weights.json"))
    parser.add_argument("--table", action="store_true", help="print what is there already")
    given = parser.parse_args(arguments)
    if given.table:
        sys.stdout.write(table(json.loads(given.out.read_text())) + "\n")
        return
    torch.set_num_threads(2)
    place = Path(os.environ["COUNTERPOINT_DATA"])
    data, file = place / "caltech20", place / "weights" / f"{NAME}.safetensors"
    splits = open_data(data)
    record = json.loads(given.out.read_text()) if given.out.is_file() else {"runs": []}

    def keep() -> None:
        given.out.write_text(json.dumps(record, indent=1) + "\n")

    record.setdefault("versions", versions())
    if "before" not in record:
        job = job_of(methods()["simclr"], data, file, seed=0, steps=1)
        start = Run(None, job.method, built_model(job), job.image, job.training)
        record["before"] = measured(start, splits)
        keep()
    if "steps" not in record:
        cost = {name: step_cost(method, data, file) for name, method in methods().items()}
        record["core seconds a step"] = cost
        record["images/s of two cores"] = {n: BATCH / c * 2 for n, c in cost.items()}
        record["steps"] = {name: round(BUDGET / c) for name, c in cost.items()}
        keep()
    for seed in SEEDS:
        for name, method in methods().items():
            if any((run["method"], run["seed"]) == (name, seed) for run in record["runs"]):
                continue
            steps = record["steps"][name]
            job = job_of(method, data, file, seed=seed, steps=steps)
            begun, worked = time.monotonic(), core_seconds()
            with tempfile.TemporaryDirectory() as folder:
                run = pretrain(job, out=Path(folder) / "run", health=False)
                spent = {"seconds": time.monotonic() - begun, "core": core_seconds() - worked}
                found = measured(run, splits)
            record["runs"].append({"method": name, "seed": seed, "steps": steps, **spent, **found})
            keep()
    frozen = record.setdefault("as they are", {})
    for side in SIDES:
        if str(side) not in frozen:
            bare = open_encoder(encoder=f"timm/{NAME}", weights=file, size=side)
            frozen[str(side)] = measured(bare, splits)
            keep()
    sys.stdout.write(f"{table(record)}\n{json.dumps(record)}\n")
