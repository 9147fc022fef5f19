"""Hand-made records of a run: every file of a folder, with figures that look like real ones."""

import json
import math

import torch
from safetensors.torch import save_file

from counterpoint.data.description import source_record
from counterpoint.framework.settings import Training
from counterpoint.job_record import JobRecord
from counterpoint.methods import method_named
from counterpoint.run import Run, save

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
CORRUPTIONS = ["gaussian_noise", "shot_noise", "motion_blur", "fog", "contrast", "jpeg_compression"]
VERSIONS = {"python": "3.11.7", "counterpoint": "0.1.0", "torch": "2.14.1", "lightning": "2.6.6"}


def write_run(folder, *, method="simclr-small", epochs=5, good=0.64):
    """Write a folder with a run's settings and curves, but no weights."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen = method_named(method, size=32)
    (folder / "method.json").write_text(chosen.to_json())
    training = Training(epochs=epochs, batch=256, optimiser="adamw", lr=3e-3, weight_decay=0.05)
    record = {
        "format": 2,
        "job": job_record(method, training, steps=175 * epochs).to_dict(),
        "steps": 175 * epochs,
        "versions": VERSIONS,
    }
    (folder / "run.json").write_text(json.dumps(record))
    steps = range(25, 175 * epochs + 1, 25)
    rows = [f"{s // 175},{3.4 + 2.2 * math.exp(-s / 200) - good / 2},{s}" for s in steps]
    (folder / "metrics.csv").write_text("\n".join(["epoch,loss,step", *rows, ""]))
    save_file({"weight": torch.zeros(64, 3, 3, 3)}, folder / "encoder.safetensors")
    return folder


def job_record(method, training, *, steps, count=45_000, limit=None):
    """What a job on CIFAR-10 says of itself."""
    name = "cifar10 train" if limit is None else f"cifar10 train first {limit:,}"
    chosen = method_named(method, size=32)
    return JobRecord(
        method=chosen.fingerprint,
        name=method,
        encoder=None,
        recipe=method,
        data=source_record(
            "memory", name, count, limit=limit, shape=(3, 32, 32), labels=True, classes=10
        ),
        image=(3, 32, 32),
        size=None,
        training=training,
        steps=steps,
        workers=0,
        origin=f"the recipe of {method}",
    )


def write_weights(folder, *, method="simclr-small"):
    """Write a run as pretraining does, with weights that nothing has trained."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    chosen = method_named(method, size=32)
    run = Run(folder, chosen, chosen.build(image=(3, 32, 32)), (3, 32, 32), Training(epochs=2))
    save(run, job=job_record(method, run.training, steps=4, count=512, limit=512), steps=4)
    return folder


def write_health(folder, *, epochs=5, good=0.64, verdict="healthy"):
    """Write a health.jsonl, with a line before training and one for every epoch."""
    why = "The rank grows and positives are told from negatives far above chance."
    lines = [
        _look(epoch, epochs, good) | {"verdict": verdict, "why": why} for epoch in range(epochs + 1)
    ]
    (folder / "health.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def _look(epoch, epochs, good):
    done = epoch / epochs
    return {
        "epoch": epoch,
        "step": 175 * epoch,
        "rankme": 9.5 + 42 * good * math.sqrt(done),
        "width": 256,
        "alpha": 2.1 - done,
        "lidar": 6 + 18 * done * good,
        "alignment": 0.62 - 0.3 * done,
        "uniformity": -1.1 - 1.8 * done,
        "deviation": 0.41 + 0.4 * done,
        "top1": 0.02 + good * math.sqrt(done),
        "chance": 1 / 511,
        "loss": 5.9 - 1.9 * done,
        "lr": 3e-3 * 0.5 * (1 + math.cos(math.pi * done)),
        "gradient_norm": 1.9 - done + 0.2 * (epoch % 2),
        "momentum": None,
        "positive": _bell(0.35 + 0.35 * done, 0.18),
        "negative": _bell(0.3 - 0.28 * done, 0.2),
        "knn": 0.3 + (good - 0.3) * math.sqrt(done),
        "linear": 0.33 + (good - 0.31) * math.sqrt(done),
    }


def _bell(middle, width):
    edges = [n / 20 - 1 for n in range(41)]
    heights = [math.exp(-(((e + 0.025 - middle) / width) ** 2) / 2) for e in edges[:-1]]
    return {"edges": edges, "counts": [round(4000 * height) for height in heights]}


def write_evaluation(folder, *, good=0.64, fingerprint="977965a17bfd2ece"):
    """Write an evaluation.json with four probes, two shares of the labels and robustness."""
    probes = [
        _probe("knn", good, {"k": 20, "tau": 0.1}),
        _probe("linear", good + 0.041, {"penalty": 0.001}),
        _probe("mlp", good + 0.083, {"lr": 0.001, "epoch": 14}, seeds=3),
        _probe("finetune", good + 0.17, {"lr": 0.0005, "epoch": 9}, seeds=3),
        _probe("knn", good - 0.11, {"k": 20, "tau": 0.1}, fraction=0.1, seeds=3),
        _probe("linear", good - 0.09, {"penalty": 0.1}, fraction=0.1, seeds=3),
    ]
    hurt = {
        name: [round(good - (0.02 + 0.015 * n) * severity, 4) for severity in range(1, 6)]
        for n, name in enumerate(CORRUPTIONS)
    }
    moved = {"scale 0.8": good - 0.05, "turn 15": good - 0.11, "move 4": good - 0.01}
    record = {
        "method": "6ea7e2e92940139c",
        "data": {"name": "cifar10 train", "fingerprint": fingerprint},
        "versions": VERSIONS | {"torch": "2.14.0"},
        "seed": 0,
        "seconds": 93.1,
        "peak_mb": 2100,
        "width": 256,
        "classes": CLASSES,
        "probes": probes,
        "robustness": {"clean": good, "corruptions": hurt, "shifts": moved},
    }
    (folder / "evaluation.json").write_text(json.dumps(record))


def _probe(name, test, settings, *, fraction=1.0, seeds=1):
    counts = _confusion(test)
    return {
        "name": name,
        "settings": settings,
        "fraction": fraction,
        "validation": test + 0.006,
        "test": test,
        "low": test - 0.0092,
        "high": test + 0.0091,
        "spread": 0.0021 if seeds > 1 else None,
        "seeds": list(range(seeds)),
        "calibration_error": 0.031,
        "per_class": [row[n] / sum(row) for n, row in enumerate(counts)],
        "confusion": counts,
        "seconds": 3.1 * seeds,
    }


def _confusion(test):
    """Make a matrix that is right `test` of the time, with cats and dogs, cars and trucks mixed."""
    ease = [0.05, 0.12, -0.1, -0.19, -0.06, -0.08, 0.08, 0.05, 0.09, 0.04]
    alike = {0: 8, 1: 9, 2: 4, 3: 5, 4: 7, 5: 3, 6: 2, 7: 4, 8: 0, 9: 1}
    rows = []
    for true in range(10):
        right = round(1000 * min(0.97, test + ease[true]))
        few = round(0.6 * (1000 - right) / 8)
        row = [few] * 10
        row[true], row[alike[true]] = right, 1000 - right - 8 * few
        rows.append(row)
    return rows
