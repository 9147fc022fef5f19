"""Checkpoints while a run trains, and the last one when it is asked to stop."""

import lightning as L
from lightning.pytorch.callbacks import Callback

from counterpoint.pulse import phase
from counterpoint.training.callbacks.guard import Guard
from counterpoint.training.callbacks.timer import Timer
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.checkpoints.step_names import step_name
from counterpoint.training.consensus import Wishes
from counterpoint.training.position import position_of
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.run_store.run_store import RunStore
from counterpoint.training.signals import Stopped


class Keeper(Callback):
    """Save when all ranks know that it is due; stop when they know that one was asked to.

    A checkpoint of a whole epoch is written when the epoch has ended for everyone: after its
    receipt and its look at health. It comes last in the list of callbacks.
    """

    def __init__(
        self,
        checkpoints: Checkpoints,
        guard: Guard,
        timer: Timer,
        store: RunStore | None = None,
    ) -> None:
        self.checkpoints, self.guard, self.timer = checkpoints, guard, timer
        self.store = store
        """Where checkpoints are brought to, besides the folder."""

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: object,
        batch: object,
        batch_idx: int,
    ) -> None:
        accumulating, ended = (
            trainer.fit_loop._should_accumulate(),
            position_of(trainer).cursor == 0,
        )
        last = trainer.global_step == trainer.max_steps
        if not (accumulating or ended or last):
            self._decide(trainer, pl_module)

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        finished = trainer.global_step == trainer.max_steps
        self._decide(trainer, pl_module, ended=True, finished=finished)

    def _decide(
        self,
        trainer: L.Trainer,
        module: L.LightningModule,
        *,
        ended: bool = False,
        finished: bool = False,
    ) -> None:
        assert isinstance(module, Pretrainer)
        always = self.timer.seconds == 0
        if ended or always or self.guard.known.save or self.guard.known.stop:
            self.guard.settle(module)  # nothing is saved of an update that is not finite
        known, self.guard.known = self.guard.known, Wishes()
        if known.save or known.stop or finished:
            name = step_name(trainer.global_step)
            with phase(f"saving {name}"):
                if self.store is not None:
                    self.store.settle()
                trainer.save_checkpoint(self.checkpoints.folder / name)
                if self.store is not None:
                    self.store.bring()
            self.timer.reset()
        if known.stop and not finished:
            raise Stopped(preempted=known.preempted > 0)
