"""Before every update: is it finite on all ranks, and does any of them want to stop?"""

import json
import math
from pathlib import Path

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback

from counterpoint.failures import RunFailure
from counterpoint.training.consensus import Wishes, agreed, summed
from counterpoint.training.notice import Notice
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.timer import Timer


class NonFiniteError(RunFailure):
    """A loss or a gradient that is not a number: training it further would spoil the weights."""


class Guard(Callback):
    """Let all ranks know, once per step and before the update, what any of them has seen."""

    def __init__(self, folder: Path, notice: Notice, timer: Timer) -> None:
        self.folder, self.notice, self.timer = folder, notice, timer
        self.known = Wishes()

    def on_before_optimizer_step(
        self, trainer: L.Trainer, pl_module: L.LightningModule, optimizer: torch.optim.Optimizer
    ) -> None:
        assert isinstance(pl_module, Pretrainer)
        loss, gradient = pl_module.finite()
        own = Wishes(
            broken=int(not (loss and gradient)),
            preempted=int(self.notice.preempted),
            interrupted=int(self.notice.interrupted),
            save=int(trainer.is_global_zero and self.timer.due()),
            bad=sum(len(batch.bad) for batch, _ in pl_module.since_update),
        )
        self.known = agreed(own, pl_module.world, pl_module.device)
        if self.known.broken:
            raise NonFiniteError(self._said(trainer, pl_module, finite=loss))

    def _said(self, trainer: L.Trainer, module: Pretrainer, *, finite: bool) -> str:
        """Say what happened and where; a rank whose loss it was writes down its samples."""
        every = torch.zeros(module.world.size, dtype=torch.int64, device=module.device)
        every[module.world.rank] = int(not finite)
        ranks = summed(every, module.world).nonzero().flatten().tolist()
        what = f"the loss on rank {', '.join(map(str, ranks))}" if ranks else "the gradient"
        if not finite or not ranks:
            self._write(trainer, module)
        return (
            f"loss: {what} is not finite at step {trainer.global_step}; no weight was changed. "
            f"The samples are in {self.folder}/nonfinite-rank-*.json. Lower the learning rate, "
            "or look at those images"
        )

    def _write(self, trainer: L.Trainer, module: Pretrainer) -> None:
        losses = [float(loss) for _, loss in module.since_update]
        record = {
            "step": trainer.global_step,
            "epoch": trainer.current_epoch,
            "rank": module.global_rank,
            "losses": [loss if math.isfinite(loss) else str(loss) for loss in losses],
            "samples": [int(n) for batch, _ in module.since_update for n in batch.index],
        }
        file = self.folder / f"nonfinite-rank-{module.global_rank}.json"
        file.write_text(json.dumps(record) + "\n")
