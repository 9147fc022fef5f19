"""Embedding into a folder against a bare loop, and on a Ray cluster that loses a node.

`scripts/bench use embed`: photos and CIFAR-10. The bare loop has the same decoder, the same workers
and the same encoder, and throws the vectors away; rounds alternate in one process. The bar is for
speed by the clock. Processor time, workers included, stands beside it: other work on the machine
changes it less.
"""

import os
import resource
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from bench.report import Bar, finish
from bench.use.million import ENCODER
from counterpoint.data import Source, Splits, open_data
from counterpoint.data.source import Cut
from counterpoint.data.workers import cores
from counterpoint.evaluation import Representation
from counterpoint.framework import Draw, Encoder
from counterpoint.framework.model import views_of_batch
from counterpoint.methods import simclr_small, training_of
from counterpoint.parts.encoders import ResNet
from counterpoint.run import Run
from counterpoint.vectors import embed_data
from counterpoint.vectors.embed_parts import EmbedJob
from counterpoint.vectors.numbered_splits import IMAGES, PIECE, NumberedSplits
from counterpoint.vectors.ray_parts import embed_on_ray

ROUNDS = 5
DATA = Path(os.environ.get("COUNTERPOINT_DATA", "data"))


class Pieces(Dataset):
    """What a bare worker does: read and cut."""

    def __init__(self, source: Source, cut: Cut) -> None:
        self.source, self.cut = source, cut

    def __getitem__(self, index: torch.Tensor) -> tuple[Any, torch.Tensor]:
        batch = self.source.read(self.cut, Draw(0, 0, index), substitute=False)
        return batch.images, batch.index


@torch.inference_mode()
def bare(run: Run, splits: Splits, workers: int) -> None:
    """Read, cut and encode; nothing is kept."""
    representation = Representation(run.model)
    representation.encoder.eval()
    quiet = run.model.views.evaluation
    for source in NumberedSplits.of(splits).sources:
        pieces = torch.arange(len(source)).split(PIECE if source.decodes else IMAGES)
        read = Pieces(source, quiet.cut)
        loaded = (read[piece] for piece in pieces)
        if source.decodes and workers:
            loaded = DataLoader(
                read, sampler=pieces, batch_size=None, num_workers=workers, collate_fn=_same
            )
        for images, index in loaded:
            representation.encoded(views_of_batch(quiet, images, Draw(0, 0, index))).cpu()


def _same(batch: Any) -> Any:
    return batch


def encoder(size: int, part: str | Encoder = ENCODER) -> Run:
    """An encoder with fresh weights; the default is small, so that what is around it shows."""
    method = simclr_small(part, size=size)
    model = method.build(image=(3, size, size))
    return Run(Path("none"), method, model, (3, size, size), training_of("simclr-small"))


def processor() -> float:
    """The processor time of this process and of its workers that ended, in seconds."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Return how long something takes: by the clock, and of processors."""
    clock, used = time.perf_counter(), processor()
    work()
    return time.perf_counter() - clock, processor() - used


def against_bare(name: str, splits: Splits, run: Run, workers: int) -> dict[str, float]:
    """Alternate rounds; ratios are the median of the rounds, above 1 where embed is faster."""
    count = len(NumberedSplits.of(splits))
    ours, theirs = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            embed = partial(embed_data, run, splits, Path(folder) / "v", copies=0, workers=workers)
            ours.append(spent(embed))
        theirs.append(spent(partial(bare, run, splits, workers)))
    found: dict[str, float] = {f"{name}, images": count}
    for kind, which in (("clock", 0), ("processor", 1)):
        ratios = [b[which] / a[which] for a, b in zip(ours, theirs, strict=True)]
        found |= {
            f"{name}, embed, ms an image, {kind}": _median_ms(ours, which, count),
            f"{name}, bare loop, ms an image, {kind}": _median_ms(theirs, which, count),
            f"{name}, speed over bare, {kind}": statistics.median(ratios),
            f"{name}, lowest round, {kind}": min(ratios),
            f"{name}, highest round, {kind}": max(ratios),
        }
    return found


def _median_ms(rounds: list[tuple[float, float]], which: int, count: int) -> float:
    return 1e3 * statistics.median(one[which] for one in rounds) / count


def on_ray(place: Path) -> dict[str, float]:
    """All photos on three nodes, of which one is killed; the parts are compared byte by byte."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    from counterpoint.encoder_choice import open_encoder

    kept = open_encoder(encoder=ENCODER, size=64, out=place / "run")
    here = embed_data(kept, DATA / "caltech20", place / "here", part_size=25, copies=0)
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=80 << 20) for _ in range(3)]
    ray.init(address=cluster.address, log_to_driver=False)
    job = EmbedJob.begin(kept, DATA / "caltech20", place / "ray", part_size=25)
    left: list[int] = []

    def kill() -> None:
        while len([*job.folder.glob("part-*.parquet")]) < 10:
            time.sleep(0.02)
        raylet = next(info.process for info in nodes[0].all_processes["raylet"]).pid
        lists = Path(f"/proc/{raylet}/task").glob("*/children")
        children = [int(child) for listed in lists for child in listed.read_text().split()]
        for pid in (raylet, *children):
            os.kill(pid, signal.SIGKILL)
        left.append(len(job.left()))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    started = time.perf_counter()
    with job.alone(0):
        embed_on_ray(job, job.left())
    took = time.perf_counter() - started
    killer.join()
    started = time.perf_counter()
    embed_on_ray(job, job.left())
    again = time.perf_counter() - started
    ray.shutdown()
    cluster.shutdown()
    names = [f"part-{part:05d}.parquet" for part in range(job.record.parts)]
    differ = sum((job.folder / n).read_bytes() != (here.folder / n).read_bytes() for n in names)
    return {
        "Ray, parts": len(names),
        "Ray, parts left when a node was killed": left[0],
        "Ray, s": took,
        "Ray, parts that differ from the local run": differ,
        "Ray, second start, s": again,
    }


def main(_arguments: list[str]) -> None:
    workers = cores()
    figures: dict[str, float] = {"workers": workers}
    photos = open_data(DATA / "caltech20")
    figures |= against_bare("photos", photos, encoder(64), workers)
    cifar = open_data(DATA / "cifar10", limit=20_000)
    figures |= against_bare("CIFAR-10", cifar, encoder(32), 0)
    wide = encoder(64, ResNet("resnet18", stem="imagenet"))
    figures |= against_bare("photos, ResNet-18", photos, wide, workers)
    few = open_data(DATA / "cifar10", limit=500)
    small = encoder(32, ResNet("resnet18", stem="small"))
    figures |= against_bare("CIFAR-10, ResNet-18", few, small, 0)
    with tempfile.TemporaryDirectory() as folder:
        figures |= on_ray(Path(folder))
    bars = [
        Bar(f"{name}, bare over embed", 1 / figures[f"{name}, speed over bare, clock"], 1 / 0.95)
        for name in ("photos", "CIFAR-10", "photos, ResNet-18", "CIFAR-10, ResNet-18")
    ]
    differ = figures["Ray, parts that differ from the local run"]
    finish("use embed", figures, [*bars, Bar("Ray, parts that differ", differ, 0)])
