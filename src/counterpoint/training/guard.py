"""Before every update: is it finite on all ranks, and does any of them want to stop?"""

import json
import math
from pathlib import Path

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback

from counterpoint.training.consensus import Wishes, agreed
from counterpoint.training.notice import Notice
from counterpoint.training.place import place_of
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.timer import Timer


class NonFiniteError(RuntimeError):
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
        broken = not pl_module.finite()
        own = Wishes(
            broken=int(broken),
            preempted=int(self.notice.preempted),
            interrupted=int(self.notice.interrupted),
            save=int(trainer.is_global_zero and self.timer.due()),
            bad=sum(len(batch.bad) for batch, _ in pl_module.since_update),
        )
        self.known = agreed(own, pl_module.world, pl_module.device)
        if self.known.broken:
            raise NonFiniteError(self._said(trainer, pl_module, broken=broken))

    def _said(self, trainer: L.Trainer, module: Pretrainer, *, broken: bool) -> str:
        """Say what happened, and write down which samples this rank had seen."""
        place = place_of(trainer)
        if not broken:
            return f"loss: not finite on another rank at step {place.step}; this rank stops too"
        losses = [float(loss) for _, loss in module.since_update]
        samples = [int(n) for batch, _ in module.since_update for n in batch.index]
        file = self.folder / f"nonfinite-rank-{module.global_rank}.json"
        record = {
            "step": place.step,
            "epoch": trainer.current_epoch,
            "rank": module.global_rank,
            "losses": [loss if math.isfinite(loss) else str(loss) for loss in losses],
            "samples": samples,
        }
        file.write_text(json.dumps(record) + "\n")
        what = "loss" if not all(map(math.isfinite, losses)) else "gradient"
        return (
            f"loss: the {what} is not finite at step {place.step} on rank {module.global_rank}, "
            f"losses {losses}; the weights are as before it and its samples are in {file}. "
            "Lower the learning rate, or look at those images"
        )
