"""A receipt for every epoch: each sample was consumed exactly once, over all ranks and restarts."""

import json
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback

from counterpoint.data import Batches
from counterpoint.data.batch import Batch
from counterpoint.data.receipt import POWERS, Receipt, power_sums, receipt
from counterpoint.failures import RunFailure
from counterpoint.log_lines import Log, parse_object, whole_number
from counterpoint.run_files import RECEIPTS
from counterpoint.training.consensus import summed
from counterpoint.training.position import position_of
from counterpoint.training.pretrainer import Pretrainer


class ConsumedWronglyError(RunFailure):
    """An epoch in which a sample came twice or not at all: a defect of ours."""


class Ledger(Callback):
    """Add up what all ranks consume; the sums are kept in checkpoints."""

    def __init__(self, folder: Path) -> None:
        self.lines = Log(folder / RECEIPTS)
        self.sums = torch.zeros(POWERS, dtype=torch.int64)
        self.module: Pretrainer | None = None

    def setup(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        assert isinstance(pl_module, Pretrainer)
        self.module = pl_module

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.is_global_zero:
            past = [found for found in self.lines.read(_read) if found[0] < trainer.current_epoch]
            self.lines.rewrite("".join(line for _, line in past))
        else:  # rank 0 has what all ranks had together
            self.sums = torch.zeros_like(self.sums)

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,
        batch: Batch,
        batch_idx: int,
    ) -> None:
        self.sums = self.sums.to(batch.index.device) + power_sums(batch.index)

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if position_of(trainer).cursor > 0:  # a run may end in the middle of an epoch
            return
        batches = trainer.train_dataloader
        assert isinstance(batches, Batches)
        found = receipt(batches.sampler, self._total().cpu())
        self.sums = torch.zeros_like(self.sums)
        if trainer.is_global_zero:
            self.lines.add(_line(found))
        if not found.right:
            raise ConsumedWronglyError(
                f"data: epoch {found.epoch} consumed {found.consumed}, needs {found.expected}; "
                "a sample came twice or not at all. This is a defect: please report "
                f"{self.lines.file}"
            )

    def state_dict(self) -> dict[str, Any]:
        """Return what all ranks have consumed; every rank calls this when a checkpoint is made."""
        return {"sums": self._total().cpu()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.sums = state_dict["sums"]

    def _total(self) -> torch.Tensor:
        assert self.module is not None
        return summed(self.sums.to(self.module.device), self.module.world)


def _read(line: str) -> tuple[int, str]:
    """Return the epoch of a receipt, and its line."""
    return whole_number(parse_object(line)["epoch"]), f"{line}\n"


def _line(found: Receipt) -> str:
    plain = {
        "epoch": found.epoch,
        "right": found.right,
        "consumed": found.consumed,
        "expected": found.expected,
    }
    return json.dumps(plain) + "\n"
