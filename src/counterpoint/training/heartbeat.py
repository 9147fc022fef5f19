"""A rank that has died or stands still is noticed and named by the others, in bounded time.

A process that dies closes its connections: the others get an error at once, and look here for
who it was. One that is stopped or stuck says nothing at all: every rank has a thread that beats
in a store of rank 0, and rank 0 names who has not beaten for `patience` seconds.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta

import lightning as L
import torch
import torch.distributed as dist
from lightning.pytorch.callbacks import Callback
from torch.distributed import DistError, TCPStore  # type: ignore[attr-defined]

from counterpoint.failures import RunFailure
from counterpoint.training.neighbours import Neighbours, roll_call

LOST = "lost"  # the key under which rank 0 writes who it was
SOON = 0.5  # seconds that the others get to read it


class LostRankError(RunFailure):
    """Another rank has ended or stands still; this one cannot go on without it."""


class Heartbeat(Callback):
    """Watch over the other ranks; a rank alone has none."""

    def __init__(self, *, patience: float) -> None:
        self.patience = patience
        self.interval = min(1.0, patience / 20)
        self.ended = threading.Event()
        self.neighbours: Neighbours | None = None
        self.answered = 0.0
        """When rank 0 has answered last, on another rank."""

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.world_size == 1 or self.patience <= 0:
            return
        self.neighbours = roll_call(pl_module.device)
        store = _store(trainer, pl_module.device, timedelta(seconds=self.patience))
        store.set(_key(trainer.global_rank), "0")
        dist.barrier()  # every rank has a first beat
        self.answered = time.monotonic()
        if trainer.is_global_zero:
            _begin(self._rank_0, store, trainer.world_size)
        else:
            _begin(self._another, store, trainer.global_rank)
            _begin(self._impatient)

    def on_exception(
        self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException
    ) -> None:
        self.ended.set()
        if self.neighbours is None or not isinstance(exception, RuntimeError):
            return
        gone = self.neighbours.gone()
        if gone:
            # Lightning may wait for the dead while it tidies up; we do not wait for Lightning.
            threading.Thread(target=_leave, args=(5.0,), daemon=True).start()
            raise LostRankError(f"ranks: {gone}; --resume auto goes on") from exception

    def teardown(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        self.ended.set()

    def _rank_0(self, store: TCPStore, ranks: int) -> None:
        """See who has not beaten for too long."""
        seen = {other: (b"", time.monotonic()) for other in range(1, ranks)}
        while not self.ended.wait(self.interval):
            now = time.monotonic()
            for other, (beat, since) in seen.items():
                latest = store.get(_key(other))
                seen[other] = (beat, since) if latest == beat else (latest, now)
                if now - seen[other][1] > self.patience:
                    store.set(LOST, str(other))
                    time.sleep(SOON)
                    self._stop(other)

    def _another(self, store: TCPStore, rank: int) -> None:
        """Beat, and believe rank 0."""
        while not self.ended.wait(self.interval):
            try:
                store.set(_key(rank), f"{time.monotonic():.6f}")
                if store.check([LOST]):
                    self._stop(int(store.get(LOST)))
            except (DistError, RuntimeError):
                return  # rank 0 has ended: the main thread knows, or soon will
            self.answered = time.monotonic()

    def _impatient(self) -> None:
        """A rank 0 that stands still never answers, and the thread that asks waits for ever."""
        while not self.ended.wait(self.interval):
            if time.monotonic() - self.answered > self.patience:
                self._stop(0)

    def _stop(self, other: int) -> None:
        """End this process: its main thread waits for the lost rank and will not wake up."""
        assert self.neighbours is not None
        who = self.neighbours.name(other)
        sys.stderr.write(
            f"counterpoint: ranks: {who} has given no sign of life for {self.patience:g} s; "
            "this rank stops too; --resume auto goes on\n"
        )
        _leave(0.0)


def _leave(seconds: float) -> None:
    time.sleep(seconds)
    sys.stderr.flush()
    os._exit(1)


def _key(rank: int) -> str:
    return f"beat/{rank}"


def _begin(watch: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=watch, args=arguments, daemon=True).start()


def _store(trainer: L.Trainer, device: torch.device, timeout: timedelta) -> TCPStore:
    """Make a store in rank 0, next to the process group's own, and tell the others its port."""
    host = os.environ.get("MASTER_ADDR", "127.0.0.1")
    first = trainer.is_global_zero
    store = TCPStore(host, 0, None, is_master=True, timeout=timeout) if first else None
    port = torch.tensor(store.port if store else 0, device=device)
    dist.broadcast(port, src=0)
    return store or TCPStore(host, int(port), None, is_master=False, timeout=timeout)
