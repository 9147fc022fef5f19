"""What the ranks of a nursery do: small real runs on real images."""

import json
import logging
import os
import signal
import time
import warnings
from dataclasses import replace
from pathlib import Path

import lightning as L
import numpy as np
import torch

from counterpoint import ArraySource, Bank, open_data, pretrain
from counterpoint.methods import METHODS, training_of
from counterpoint.parts.encoders import AMDIMEncoder, CPCResNet, NarrowResNet

IMAGES, BATCH = 80, 16
RESNET = NarrowResNet(widths=(8, 16), blocks=(1, 1))
PATCHES = AMDIMEncoder(width=4, rkhs=16, depth=1)
CPC = CPCResNet(blocks=(1, 1, 1), bottlenecks=(8, 8, 8), widths=(16, 16, 16), stem=8, stride=2)
ENCODERS = {"amdim": PATCHES, "yadim": PATCHES, "cpc": CPC}


def warm():
    """Import and read; the workers of torch start with the first operator, so none is run."""
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def small(name):
    return METHODS[f"{name}-small"](ENCODERS.get(name, RESNET), size=32)


def images(count=IMAGES):
    """The first real images, from a small file that the test has written."""
    pixels = torch.from_numpy(np.load(os.environ["RELIABILITY_IMAGES"])[:count])
    return ArraySource("cifar10", pixels, labels=torch.arange(len(pixels)) % 4)


class Losses(L.Callback):
    """Every loss of this rank, in hexadecimal, as it happens."""

    def __init__(self, file):
        self.file = Path(file)

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        record = {
            "step": trainer.global_step,
            "epoch": trainer.current_epoch,
            "loss": float(outputs["loss"]).hex(),
            "samples": batch.index.tolist(),
            "at": time.monotonic(),
        }
        with self.file.open("a") as file:
            file.write(json.dumps(record) + "\n")


def train(
    method,
    out,
    losses,
    *,
    epochs=2,
    seed=0,
    save_seconds=0.0,
    health=False,
    callbacks=(),
    folder=None,
    batch=BATCH,
    precision="32-true",
    block_shards=None,
    strategy="ddp",
    bank=False,
    **more,
):
    """Train one small method; a second call on the same folder resumes."""
    rank = int(os.environ.get("RANK", "0"))
    recipe = {"epochs": epochs, "batch": batch, "seed": seed, "precision": precision}
    recipe |= {"block_shards": block_shards, "strategy": strategy}
    training = replace(training_of(f"{method}-small"), **recipe)
    composed = small(method)
    if bank:  # its rows are divided over the ranks
        composed = composed.swap(extraction=Bank(samples=IMAGES, negatives=32))
    pretrain(
        composed,
        images() if folder is None else open_data(folder).train,
        out=out,
        training=training,
        resume="auto",
        save_seconds=save_seconds,
        health=health,
        callbacks=[*callbacks, Losses(f"{losses}.{rank}")],
        accelerator="cpu",
        **more,
    )


class Until(L.Callback):
    """Kill this process, as kill -9 does, when a step is done and its checkpoint written."""

    def __init__(self, step, out):
        self.step, self.checkpoints = step, Path(out) / "checkpoints"

    def on_train_batch_start(self, trainer, module, batch, batch_idx):
        if trainer.global_step >= self.step:
            while not list(self.checkpoints.glob(f"step-*{self.step}")):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGKILL)


def train_until(*, step, **settings):
    """Train to a step, which is then the end of all ranks."""
    train(callbacks=[Until(step, settings["out"])], **settings)


def poisoned(*, rank, step, **settings):
    """Train, with a loss on one rank and at one step that is not a number."""
    from counterpoint.training import pretrainer

    true, calls = pretrainer.batch_loss, [0]

    def batch_loss(*arguments):
        calls[0] += 1
        here = calls[0] == step and int(os.environ.get("RANK", "0")) == rank
        return true(*arguments) * (float("nan") if here else 1.0)

    pretrainer.batch_loss = batch_loss
    train(**settings)


def held_up(*, rank, step, how, **settings):
    """Train, and let one rank stand still in a step: asleep, or in an exchange of its own."""
    from counterpoint.training import pretrainer

    true, calls = pretrainer.batch_loss, [0]

    def batch_loss(*arguments):
        calls[0] += 1
        if calls[0] == step and int(os.environ.get("RANK", "0")) == rank:
            torch.distributed.barrier() if how == "exchange" else time.sleep(1e6)
        return true(*arguments)

    pretrainer.batch_loss = batch_loss
    train(**settings)


def unanswered(*, rank, file, **settings):
    """Train; when the file is there, the store never answers this rank any more."""
    from counterpoint.training.watchdog.status_store import StatusStore

    def deaf(true):
        def call(*arguments):
            while int(os.environ["RANK"]) == rank and Path(file).exists():
                time.sleep(0.1)
            return true(*arguments)

        return call

    for name in ("say", "heard", "heard_of"):
        setattr(StatusStore, name, deaf(getattr(StatusStore, name)))
    train(**settings)


def slow_disk(*, file, **settings):
    """Train; while the file is there, no picture is read any more."""
    from counterpoint.data import encoded_source

    true = encoded_source.read_cuts

    def read(*arguments):
        while Path(file).exists():
            time.sleep(0.1)
        return true(*arguments)

    encoded_source.read_cuts = read
    train(**settings)


def apart(**settings):
    """Train as if every rank were on a machine of its own."""
    from counterpoint.training.watchdog import peers

    peers._machine = lambda: int(os.environ["RANK"])
    train(**settings)


def stored(*, environment, **settings):
    """Train a run that is kept in an object store, found by this environment."""
    os.environ |= environment
    train(**settings)


def shared_state(rank, ranks):
    """A state as a rank has it: whole tensors, rows of a bank, and a DTensor where there is one."""
    from torch.distributed.device_mesh import init_device_mesh

    from counterpoint.training.checkpoints.divided_rows import (
        DividedRows,
        distributed_rows,
        rows_of_rank,
    )

    whole = whole_state()
    mesh = init_device_mesh("cpu", (ranks,))
    rows = rows_of_rank(len(whole["bank"]), rank, ranks)
    bank = DividedRows(whole["bank"][rows.start : rows.stop], rows.start, len(whole["bank"]))
    sharded = {name: distributed_rows(value, mesh) for name, value in whole["sharded"].items()}
    return whole | {"bank": bank, "sharded": sharded}, mesh


def whole_state():
    generator = torch.Generator().manual_seed(5)
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    return {
        "state_dict": {"weight": draw(33, 5), "tau": draw(1), "steps": torch.tensor(7)},
        "bank": draw(11, 3),
        "sharded": {"weight": draw(10, 4), "bias": draw(2)},
        "place": {"epoch": 1, "betas": (0.9, 0.95)},
    }


def save_shares(*, out, apart=False):
    """Write a checkpoint by the threads of all ranks; `apart`, each on a disk of its own."""
    from counterpoint.training.checkpoints import Checkpoints
    from counterpoint.training.checkpoints.background import BackgroundSaves
    from counterpoint.training.checkpoints.shared_disk import all_see
    from counterpoint.training.checkpoints.talk import Talk

    torch.distributed.init_process_group("gloo")
    talk = Talk.of_job(torch.device("cpu"))
    folder = Path(out) / (f"disk-{talk.rank}" if apart else "run")
    shared = all_see(folder, talk, seconds=0.5)
    assert shared is not apart
    state, _ = shared_state(talk.rank, talk.ranks)
    saves = BackgroundSaves(Checkpoints(folder), talk, alike=lambda _: True, shared=shared)
    for step in (1, 2):
        assert saves.begin(step, state) == ""
        assert saves.settle() == ""
    torch.distributed.destroy_process_group()


def load_shares(*, out, mesh):
    """Read a checkpoint on all ranks; each compares what it got, and counts what it hashed."""
    from counterpoint.training.checkpoints import hashed
    from counterpoint.training.checkpoints.io import SafeCheckpointIO
    from training.states import same

    torch.distributed.init_process_group("gloo")
    rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
    wanted, found_mesh = shared_state(rank, ranks)
    if not mesh:
        wanted["sharded"] = whole_state()["sharded"]
    plugin, count, true = SafeCheckpointIO(), [0], hashed.HashedFile.fill
    plugin.mesh = found_mesh if mesh else None

    def fill(self, room):
        count[0] += len(room)
        true(self, room)

    hashed.HashedFile.fill = fill
    found = plugin.load_checkpoint(Path(out) / "run")
    for state in (found, wanted):
        bank = state.pop("bank")
        state["rows"] = (bank.own, bank.start, bank.length)
        if mesh:
            parts = state["sharded"]
            state["sharded"] = {n: (t.to_local(), list(t.shape)) for n, t in parts.items()}
    assert same(found["sharded"], wanted["sharded"])
    assert same(found["rows"], wanted["rows"])
    assert same(found["state_dict"], wanted["state_dict"])
    assert found["place"] == wanted["place"]
    total = torch.tensor(count[0])
    torch.distributed.all_reduce(total)
    step = max((Path(out) / "run").glob("step-*"))
    size = sum(file.stat().st_size for file in step.iterdir())
    assert int(total) == size, (int(total), size)
    torch.distributed.destroy_process_group()
