"""What a run has consumed: a receipt for every epoch, and the files that could not be read."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback
from torch import Tensor

from counterpoint.data import Batches, Files, Source
from counterpoint.data.batches import Batch
from counterpoint.data.quarantine import KINDS
from counterpoint.data.receipt import POWERS, power_sums, receipt
from counterpoint.training.consensus import summed
from counterpoint.training.guard import Guard
from counterpoint.training.lines import kept_lines
from counterpoint.training.place import place_of
from counterpoint.training.pretrainer import Pretrainer

RECEIPTS, QUARANTINE = "receipts.jsonl", "quarantine.jsonl"
SOME = 10  # fewer bad files than this never stop a run


class ConsumedWronglyError(RuntimeError):
    """An epoch in which a sample came twice or not at all: a defect of ours."""


class TooManyBadError(ValueError):
    """So many files cannot be read that the data set is not what it was meant to be."""


class Ledger(Callback):
    """Count what all ranks consume; state is kept in checkpoints, so that nothing is forgotten."""

    def __init__(
        self, source: Source | Files, folder: Path, guard: Guard, *, most_bad: float
    ) -> None:
        self.source, self.folder, self.guard, self.most_bad = source, folder, guard, most_bad
        self.sums = torch.zeros(POWERS, dtype=torch.int64)
        self.seen = self.met = 0
        """Samples, and bad files, of all ranks in this epoch."""
        self.bad: dict[int, int] = {}
        """Kind by sample."""
        self.module: Pretrainer | None = None

    def setup(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        assert isinstance(pl_module, Pretrainer)
        self.module = pl_module

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,
        batch: Batch,
        batch_idx: int,
    ) -> None:
        self.sums = self.sums.to(batch.index.device) + power_sums(batch.index)
        self.bad.update(batch.bad.tolist())
        assert isinstance(pl_module, Pretrainer)
        self.seen += pl_module.training_settings.batch
        if trainer.fit_loop._should_accumulate():
            return
        self.met += self.guard.known.bad
        if self.met > max(SOME, self.most_bad * self.seen):
            raise TooManyBadError(
                f"data: {self.met} of the first {self.seen} files of this epoch cannot be read, "
                f"more than {self.most_bad:.0%}; counterpoint doctor lists what is broken, and "
                "--most-bad allows more"
            )

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self._exchange()
        if place_of(trainer).cursor == 0:  # a run may end in the middle of an epoch
            self._receipt(trainer)
        if trainer.is_global_zero:
            self._write_bad()

    def state_dict(self) -> dict[str, Any]:
        """Give what all ranks have consumed; every rank calls this when a checkpoint is made."""
        self._exchange()
        return {
            "sums": self.sums.cpu(),
            "seen": self.seen,
            "met": self.met,
            "bad": torch.tensor(sorted(self.bad.items())).view(-1, 2).long(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.sums = state_dict["sums"]
        self.seen, self.met = state_dict["seen"], state_dict["met"]
        self.bad = dict(state_dict["bad"].tolist())

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.is_global_zero:
            epoch = trainer.current_epoch
            kept_lines(self.folder / RECEIPTS, lambda record: record["epoch"] < epoch)
        else:  # rank 0 has what all ranks had together
            self.sums = torch.zeros(POWERS, dtype=torch.int64)

    def _exchange(self) -> None:
        """Bring the sums of all ranks to rank 0 and the bad files to all."""
        assert self.module is not None
        world, device = self.module.world, self.module.device
        total = summed(self.sums.to(device), world)
        self.sums = total if world.rank == 0 else torch.zeros_like(total)
        own = torch.tensor(sorted(self.bad.items()), device=device).view(-1, 2).long()
        if world.size > 1:
            self.bad = dict(_gathered(own, self.module).tolist())

    def _receipt(self, trainer: L.Trainer) -> None:
        batches = trainer.train_dataloader
        assert isinstance(batches, Batches)
        assert self.module is not None
        total = summed(self.sums.to(self.module.device), self.module.world)  # zero on other ranks
        paper = receipt(batches.sampler, total.cpu())
        record = {
            "epoch": paper.epoch,
            "right": paper.right,
            "consumed": paper.consumed,
            "expected": paper.expected,
            "bad": len(self.bad),
        }
        if trainer.is_global_zero:
            with (self.folder / RECEIPTS).open("a") as file:
                file.write(json.dumps(record) + "\n")
        if not paper.right:
            raise ConsumedWronglyError(
                f"data: epoch {paper.epoch} consumed {paper.consumed}, needs {paper.expected}; "
                f"a sample came twice or not at all. This is a defect: please report {RECEIPTS}"
            )
        self.sums = torch.zeros_like(self.sums)
        self.seen = self.met = 0

    def _write_bad(self) -> None:
        """Write the files that could not be read, with the reason, and say how many."""
        file = self.folder / QUARANTINE
        lines = [json.dumps(self._line(n, kind)) + "\n" for n, kind in sorted(self.bad.items())]
        text = "".join(lines)
        if not lines or (file.is_file() and file.read_text() == text):
            return
        file.write_text(text)
        kinds = Counter(KINDS[kind] for kind in self.bad.values())
        why = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        sys.stderr.write(f"data    {len(lines):,} files cannot be read ({why}): {file}\n")

    def _line(self, sample: int, kind: int) -> dict[str, Any]:
        path = str(self.source.paths[sample]) if isinstance(self.source, Files) else None
        return {"sample": sample, "kind": KINDS[kind], "path": path}


def _gathered(own: Tensor, module: Pretrainer) -> Tensor:
    """Gather rows of integers of all ranks."""
    gathered = module.world.gather(own.double(), own[:, 0])  # sample numbers are below 2^53
    return gathered.vectors.long()
