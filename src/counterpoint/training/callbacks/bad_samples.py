"""The files that could not be read: counted over all ranks, listed, and too many stop a run."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import lightning as L
import torch
from jaxtyping import Int64
from lightning.pytorch.callbacks import Callback
from torch import Tensor

from counterpoint.data import Source
from counterpoint.data.batch import Batch
from counterpoint.data.quarantine import KINDS
from counterpoint.log_lines import Log
from counterpoint.run_files import QUARANTINE
from counterpoint.training.callbacks.guard import Guard
from counterpoint.training.consensus import collected
from counterpoint.training.position import position_of
from counterpoint.training.pretrainer import Pretrainer

SOME = 10  # fewer bad files than this never stop a run


class TooManyBadError(ValueError):
    """So many files cannot be read that the data set is not what it was meant to be."""


class Quarantine(Callback):
    """Collect what the ranks could not read; it is kept in checkpoints."""

    def __init__(self, source: Source, folder: Path, guard: Guard, *, max_bad: float) -> None:
        self.source, self.lines, self.guard, self.max_bad = (
            source,
            Log(folder / QUARANTINE),
            guard,
            max_bad,
        )
        self.written = ""
        self.bad = {sample: KINDS.index(kind) for sample, kind in source.bad.items()}
        """Kind by sample."""
        self.seen = self.met = 0
        """Samples, and bad files, of all ranks in this epoch."""
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
        assert isinstance(pl_module, Pretrainer)
        self.bad.update(batch.bad.tolist())
        self.seen += pl_module.training_settings.micro_batch  # for every part of a batch
        if trainer.fit_loop._should_accumulate():
            return
        self.met += self.guard.take_bad()
        if self.met > max(SOME, self.max_bad * self.seen):
            raise TooManyBadError(
                f"data: {self.met} of the first {self.seen} files of this epoch cannot be read, "
                f"more than {self.max_bad:.0%}; counterpoint doctor lists what is broken, and "
                "--max-bad allows more"
            )

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        every = self._every()
        if trainer.is_global_zero:
            self._write(every)
        if position_of(trainer).cursor == 0:
            self.seen = self.met = 0

    def state_dict(self) -> dict[str, Any]:
        """Return what all ranks have met; every rank calls this when a checkpoint is made."""
        self.met += self.guard.take_bad()
        return {"bad": self._every(), "seen": self.seen, "met": self.met}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.bad = dict(state_dict["bad"].tolist())
        self.seen, self.met = state_dict["seen"], state_dict["met"]

    def _every(self) -> Int64[Tensor, "bad 2"]:
        """Gather sample and kind from all ranks, each sample once."""
        assert self.module is not None
        own = torch.tensor(sorted(self.bad.items()), dtype=torch.int64).view(-1, 2)
        every = collected(own.to(self.module.device), self.module.world)
        once: Tensor = every.cpu().unique(dim=0)
        return once

    def _write(self, every: Int64[Tensor, "bad 2"]) -> None:
        """Write the list with the reasons, and say how many there are when it has changed."""
        records = [self._record(*row) for row in every.tolist()]
        text = "".join(json.dumps(record) + "\n" for record in records)
        if text in (self.written, self.lines.text()):
            return
        self.written = text
        self.lines.rewrite(text)
        kinds = Counter(record["kind"] for record in records)
        why = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        sys.stderr.write(
            f"data    {len(records):,} images cannot be read ({why}): {self.lines.file}\n"
        )

    def _record(self, sample: int, kind: int) -> dict[str, Any]:
        return {"sample": sample, "kind": KINDS[kind], "path": self.source.path(sample)}
