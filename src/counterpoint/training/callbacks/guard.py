"""Every update: is it finite on all ranks, and does any of them want to stop?"""

import json
import math
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import lightning as L
import torch
from jaxtyping import Int64
from lightning.pytorch.callbacks import Callback
from torch import Tensor

from counterpoint.failures import RunFailure
from counterpoint.framework.sending import send
from counterpoint.training.callbacks.timer import Timer
from counterpoint.training.consensus import Wishes, summed
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.signals import Notice


class NonFiniteError(RunFailure):
    """A loss or a gradient that is not a number: training it further would spoil the weights."""


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """What the ranks have exchanged about an update, on its way to the host."""

    numbers: Int64[Tensor, " number"]
    """The wishes of all ranks, and whether this rank's loss is finite."""
    event: Any
    """Reached when the numbers are there; None where they are."""
    step: int
    epoch: int
    samples: list[Tensor]
    losses: list[Tensor]


class Guard(Callback):
    """Let all ranks know, once per update, what any of them has seen.

    On a device nobody waits for that: an optimiser that can (torch's fused ones) leaves out an
    update that is not finite on any rank, and the host hears of it, as of all wishes, before the
    next update. `settle` waits: before a checkpoint, and at the end.
    """

    def __init__(self, folder: Path, notice: Notice, timer: Timer) -> None:
        self.folder, self.notice, self.timer = folder, notice, timer
        self.known = Wishes()
        """What was agreed on and is not acted on yet."""
        self.bad = 0
        """Bad files of all ranks that were not asked for yet."""
        self.update: Update | None = None

    def on_before_optimizer_step(
        self, trainer: L.Trainer, pl_module: L.LightningModule, optimizer: torch.optim.Optimizer
    ) -> None:
        assert isinstance(pl_module, Pretrainer)
        self.settle(pl_module)
        loss, gradient = pl_module.finite()
        own = Wishes(
            preempted=int(self.notice.preempted),
            interrupted=int(self.notice.interrupted),
            save=int(trainer.is_global_zero and self.timer.due()),
            bad=sum(len(batch.bad) for batch, _ in pl_module.since_update),
        )
        wishes = send(torch.tensor(astuple(own)), pl_module.device).clone()
        wishes[0] = ~(loss & gradient)
        agreed = summed(wishes, pl_module.world)
        self.update = self._on_its_way(trainer, pl_module, torch.cat([agreed, loss.long()[None]]))
        if pl_module.device.type != "cpu" and leaves_out(optimizer):
            fused: Any = optimizer  # torch reads found_inf, and does not declare it
            fused.found_inf = (agreed[0] > 0).float()
        else:
            self.settle(pl_module)

    def settle(self, module: Pretrainer) -> None:
        """Hear what was agreed on at the last update, and stop if it was not finite."""
        update, self.update = self.update, None
        if update is None:
            return
        if update.event is not None:
            update.event.synchronize()
        *agreed, finite = update.numbers.tolist()
        self.known = Wishes(*agreed)
        self.bad += self.known.bad
        if self.known.broken:
            raise NonFiniteError(self._said(update, module, finite=bool(finite)))

    def take_bad(self) -> int:
        """Return the bad files of all ranks since this was last asked."""
        bad, self.bad = self.bad, 0
        return bad

    def _on_its_way(self, trainer: L.Trainer, module: Pretrainer, numbers: Tensor) -> Update:
        """Begin to copy what was agreed on to the host."""
        event, there = None, numbers
        if numbers.device.type != "cpu":
            there = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=numbers.is_cuda)
            there.copy_(numbers, non_blocking=True)
            event = torch.get_device_module(numbers.device).Event()
            event.record()
        return Update(
            numbers=there,
            event=event,
            step=trainer.global_step,
            epoch=trainer.current_epoch,
            samples=[batch.index for batch, _ in module.since_update],
            losses=[loss for _, loss in module.since_update],
        )

    def _said(self, update: Update, module: Pretrainer, *, finite: bool) -> str:
        """Say what happened and where; a rank whose loss it was writes down its samples."""
        every = torch.zeros(module.world.size, dtype=torch.int64, device=module.device)
        every[module.world.rank] = int(not finite)
        ranks = summed(every, module.world).nonzero().flatten().tolist()
        what = f"the loss on rank {', '.join(map(str, ranks))}" if ranks else "the gradient"
        if not finite or not ranks:
            self._write(update, module)
        return (
            f"loss: {what} is not finite at step {update.step}; no weight was changed. "
            f"The samples are in {self.folder}/nonfinite-rank-*.json. Lower the learning rate, "
            "or look at those images"
        )

    def _write(self, update: Update, module: Pretrainer) -> None:
        losses = [float(loss) for loss in update.losses]
        record = {
            "step": update.step,
            "epoch": update.epoch,
            "rank": module.global_rank,
            "losses": [loss if math.isfinite(loss) else str(loss) for loss in losses],
            "samples": [int(n) for index in update.samples for n in index],
        }
        file = self.folder / f"nonfinite-rank-{module.global_rank}.json"
        file.write_text(json.dumps(record) + "\n")


def leaves_out(optimiser: torch.optim.Optimizer) -> bool:
    """Tell whether an optimiser leaves out an update that `found_inf` says is bad."""
    fused = all(group.get("fused") for group in optimiser.param_groups)
    return fused and getattr(optimiser, "_step_supports_amp_scaling", False)
