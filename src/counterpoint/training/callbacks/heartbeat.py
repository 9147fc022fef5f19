"""A run that does not move says so, and who holds it up, within `patience` seconds.

A thread of every rank reports a few times a second that the rank lives, how far it is and what it
is doing (`watchdog/status.py`), in a store of rank 0 (`watchdog/status_store.py`). Rank 0 judges
(`watchdog/judge.py`), and all of them end with the same message (`watchdog/watch.py`). A rank alone
judges itself. The reasons are in docs/decisions/0022-progress-not-life.md.
"""

import threading
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback

from counterpoint.data import Batches
from counterpoint.failures import RunFailure
from counterpoint.pulse import enter
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.signals import Notice
from counterpoint.training.watchdog.lost_worker import lost_worker
from counterpoint.training.watchdog.processes import leave
from counterpoint.training.watchdog.status import StatusReporter
from counterpoint.training.watchdog.watch import THEN, Watch

LATER = 5.0  # seconds in which Lightning may tidy up after a lost rank


class LostRankError(RunFailure):
    """Another rank has ended; this one cannot continue without it."""


class Heartbeat(Callback):
    """Watch over this rank and the others; a patience of 0 watches over nothing.

    The words of each phase stand behind "while".
    """

    def __init__(self, notice: Notice, *, patience: float) -> None:
        self.notice, self.patience = notice, patience
        self.speaker: StatusReporter | None = None
        self.watch: Watch | None = None

    def setup(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        if self.patience <= 0:
            return
        device = trainer.strategy.root_device
        self.speaker = StatusReporter(
            patience=self.patience, asked=self.notice.asked, computes_here=device.type == "cpu"
        )
        self.watch = Watch(self.speaker, patience=self.patience)
        self.watch.begin(device, trainer.world_size)

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        assert isinstance(pl_module, Pretrainer)
        batches = trainer.train_dataloader
        if self.speaker is not None:
            self.speaker.compiling = pl_module.training_settings.compile
            self.speaker.batches = batches if isinstance(batches, Batches) else None

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        enter(f"beginning epoch {trainer.current_epoch + 1}")

    def on_train_batch_start(
        self, trainer: L.Trainer, pl_module: L.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        enter(f"computing the loss of step {trainer.global_step + 1}")

    def on_before_backward(
        self, trainer: L.Trainer, pl_module: L.LightningModule, loss: torch.Tensor
    ) -> None:
        enter(f"computing the gradient of step {trainer.global_step + 1}")

    def on_before_optimizer_step(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        optimizer: torch.optim.Optimizer,
    ) -> None:
        enter(f"updating the weights in step {trainer.global_step + 1}")

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        enter(f"finishing step {trainer.global_step}")
        if self.speaker is not None:
            self.speaker.compiling = False

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        enter(f"finishing epoch {trainer.current_epoch + 1}")

    def on_exception(
        self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException
    ) -> None:
        if self.watch is None:
            return
        lost = isinstance(exception, RuntimeError) and not isinstance(exception, RunFailure)
        gone = self.watch.gone() if lost else ""
        if gone:
            # Lightning may wait for the dead while it tidies up; we do not wait for Lightning.
            self.watch.ended.set()
            threading.Thread(target=lambda: leave("", 1, after=LATER), daemon=True).start()
            raise LostRankError(f"{gone}; this rank stops too; {THEN}") from exception
        words = str(lost_worker(exception) or exception) if isinstance(exception, Exception) else ""
        self.watch.close(words.partition("\n")[0])

    def teardown(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        if self.watch is not None:
            self.watch.close()
