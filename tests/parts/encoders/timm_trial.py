"""Train an encoder of timm, save it, open it again, and give its weights back to timm.

    python tests/parts/encoders/timm_trial.py docs/results/timm-encoders.json

runs every name of `timm_names.py` and writes what it found; docs/encoders.md is made from that.
"""

import json
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import timm
import torch
import torch.distributed as dist
from safetensors.torch import load_file
from torch.nn.parallel import DistributedDataParallel

from counterpoint.data import ArraySource
from counterpoint.framework import Draw, PartError, twins
from counterpoint.framework.settings import Training
from counterpoint.methods import moco, simclr
from counterpoint.parts.encoders import Timm
from counterpoint.parts.encoders.timm import create_options
from counterpoint.parts.extraction import Keys, Queue
from counterpoint.parts.norm_conversion import share_statistics
from counterpoint.resolve import resolve
from counterpoint.run import Run, save
from counterpoint.training.distributed import world

IMAGES, BATCH, STEPS = 32, 16, 2
TRAINING = Training(optimiser="adam", lr=1e-3, batch=BATCH, warmup=0)


@dataclass(frozen=True)
class Found:
    """What became of one name in one way of training."""

    refused: str = ""
    """By whom and why, before training."""
    failed: str = ""
    """What went wrong otherwise; nothing may."""
    opened: float | None = None
    """Largest difference of an embedding by the run and by the run opened again, of the largest."""
    timm: float | None = None
    """The same of the last map, by us and by timm with the exported weights."""
    seconds: float = 0.0


def images(side):
    generator = torch.Generator().manual_seed(0)
    coarse = torch.randint(256, (IMAGES, 3, side // 8, side // 8), generator=generator)
    return torch.nn.functional.interpolate(coarse.float(), (side, side)).to(torch.uint8)


def method_of(name, way, side):
    if way == "moco":
        return moco(Timm(name), size=side).swap(extraction=Queue(of=Keys(), size=64))
    return simclr(Timm(name), size=side)


def trial(name, way, side):
    """Train SimCLR alone or as a rank of two, or MoCo with its groups; save, open and compare."""
    start = time.perf_counter()
    torch.manual_seed(0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            method = method_of(name, way, side)
            run = _trained(method, side, Path(folder))
            found = {} if run is None else _compared(run, name, side)
    except PartError as error:
        return Found(refused=str(error))
    except Exception as error:  # noqa: BLE001 (the other names are tried all the same)
        return Found(failed=f"{type(error).__name__}: {error}")
    return Found(**found, seconds=round(time.perf_counter() - start, 1))


def _trained(method, side, folder):
    """Train step by step as the shell does, alone or with another rank; rank 0 gives the run."""
    ranks = world()
    model = method.build(image=(3, side, side))
    share_statistics(model, ranks)
    several = ranks.size > 1
    wrapped = DistributedDataParallel(model, broadcast_buffers=False) if several else model
    optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    every = images(side)
    for step in range(STEPS):
        index = torch.arange(BATCH).tensor_split(ranks.size)[ranks.rank]
        views = model.views(every[index], Draw(0, step, index))
        optimiser.zero_grad()
        wrapped(views, index, ranks).backward()
        optimiser.step()
        for twin in twins(model):
            twin.step()
    if ranks.rank > 0:
        return None
    run = Run(folder, method, model, (3, side, side), TRAINING)
    noise = ArraySource("noise", images(side))
    save(run, job=resolve(method, noise, training=TRAINING).record, steps=STEPS)
    return run


def _compared(run, name, side):
    some = images(side)[:4]
    ours = run.embed(some)
    opened = Run.open(run.folder).embed(some)
    backbone = run.encoder.eval()
    view = torch.randn(2, 3, side, side)
    with torch.no_grad():
        last = backbone((view,))[0][getattr(backbone, "probe", -1)]
        theirs = timm.create_model(name, **create_options(name, 3, (side, side))).eval()
        theirs.load_state_dict(load_file(run.folder / "encoder.safetensors"), strict=True)
        again = _last_of(theirs, view, last.shape)
    return {"opened": _apart(opened, ours), "timm": _apart(again, last)}


def _last_of(net, view, shape):
    """Return what timm calls features, as rows and columns, whatever form they have there."""
    features = net.forward_features(view)
    if isinstance(features, torch.Tensor) and features.shape == shape:
        return features
    if isinstance(features, torch.Tensor) and features.ndim == 3:  # tokens
        tokens = features[:, getattr(net, "num_prefix_tokens", 0) :]
        if tokens.mT.numel() == shape.numel():
            return tokens.mT.reshape(shape)
    if isinstance(features, torch.Tensor) and features.ndim == 4:  # channels at the end
        turned = features.permute(0, 3, 1, 2)
        if turned.shape == shape:
            return turned
    return net.forward_intermediates(view, intermediates_only=True, norm=True)[-1]


def _apart(found, expected):
    assert bool(expected.isfinite().all())
    assert float(expected.abs().max()) > 0
    return float((found - expected).abs().max() / expected.abs().max())


def join(rank, store):
    """Become a rank of two."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)


class Pair:
    """Two processes that stay for many names."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        store, context = str(Path(self.folder.name) / "store"), multiprocessing.get_context("spawn")
        self.pools = [
            ProcessPoolExecutor(1, mp_context=context, initializer=join, initargs=(rank, store))
            for rank in (0, 1)
        ]
        return self

    def trial(self, name, side):
        waiting = [pool.submit(trial, name, "two", side) for pool in self.pools]
        first, _ = (one.result(timeout=600) for one in waiting)
        return first

    def __exit__(self, *_):
        for pool in self.pools:
            pool.shutdown()
        self.folder.cleanup()


def main(out):
    """Run every name that is not in the file yet, and write the outcomes after each."""
    from timm_names import NAMES, SIDE, SIDES

    found = json.loads(Path(out).read_text())["found"] if Path(out).exists() else {}
    with Pair() as pair:
        for name in NAMES:
            if name in found:
                continue
            side = SIDES.get(name, SIDE)
            ways = {way: trial(name, way, side) for way in ("one", "moco")}
            ways["two"] = pair.trial(name, side)
            outcome = {way: asdict(one) for way, one in ways.items()}
            found[name] = {"family": family(name), "side": side, **outcome}
            print(name, outcome, flush=True)
            versions = {p: metadata.version(p) for p in ("torch", "timm")}
            record = {"versions": {"python": platform.python_version(), **versions}, "found": found}
            Path(out).write_text(json.dumps(record, indent=1) + "\n")


def family(name):
    """Return the file of timm that a name comes from."""
    return timm.model_entrypoint(name).__module__.rpartition(".")[2]


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1])
