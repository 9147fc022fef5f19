"""Checkpoints while a run trains, and the last one when it is asked to stop."""

import sys

import lightning as L
from lightning.pytorch.callbacks import Callback
from torch import Tensor

from counterpoint.pulse import phase
from counterpoint.training.callbacks.guard import Guard
from counterpoint.training.callbacks.timer import Timer
from counterpoint.training.checkpoints.background import BackgroundSaves
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.checkpoints.shared_disk import all_see
from counterpoint.training.checkpoints.step_names import step_name
from counterpoint.training.checkpoints.talk import Talk
from counterpoint.training.consensus import Wishes
from counterpoint.training.position import position_of
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.run_store.run_store import RunStore
from counterpoint.training.signals import Stopped

OPTIMISER = "optimizer_states."


class Keeper(Callback):
    """Save when all ranks know that it is due; stop when they know that one was asked to.

    A checkpoint is copied inside of the step and written by threads, one of each rank, while
    training continues; the last one is waited for. One that fails is reported, and the next is
    tried when it is due; the last one must not fail.

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
        self.saves: BackgroundSaves | None = None
        self.said = ""
        self.prepared = False

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        talk = Talk.of_job(trainer.strategy.root_device)
        shared = all_see(self.checkpoints.folder, talk)
        if not shared and talk.rank == 0:
            sys.stderr.write(
                f"checkpoint: not all ranks see {self.checkpoints.folder}, so rank 0 writes "
                "everything; on a disk that all machines share each rank would write its part\n"
            )
        own = {f"state_dict.{name}" for name, _ in pl_module.named_parameters()}
        self.saves = BackgroundSaves(
            self.checkpoints,
            talk,
            alike=lambda name: name in own or name.startswith(OPTIMISER),
            shared=shared,
            after=lambda: self.store.bring() if self.store is not None else None,
        )

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: object,
        batch: object,
        batch_idx: int,
    ) -> None:
        assert self.saves is not None
        if not self.prepared and trainer.global_step > 0:  # optimisers have their states by now
            self.prepared = True
            self.saves.prepare(_held(trainer, pl_module))
        if trainer.is_global_zero:
            self._say(self.saves.complaint())
        accumulating, ended = (
            trainer.fit_loop._should_accumulate(),
            position_of(trainer).cursor == 0,
        )
        last = trainer.global_step == trainer.max_steps
        if not (accumulating or ended or last):
            self._decide(trainer, pl_module)

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        finished = trainer.global_step == trainer.max_steps
        # A callback of a user's own may end a run early: what it has learned can be resumed too.
        self._decide(trainer, pl_module, ended=True, finished=finished, last=trainer.should_stop)

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self._settle(trainer)

    def on_exception(
        self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException
    ) -> None:
        if self.saves is not None and isinstance(exception, Exception):  # not at a second Ctrl-C
            with phase("finishing a checkpoint"):
                self.saves.abandon()

    def _decide(
        self,
        trainer: L.Trainer,
        module: L.LightningModule,
        *,
        ended: bool = False,
        finished: bool = False,
        last: bool = False,
    ) -> None:
        assert isinstance(module, Pretrainer)
        always = self.timer.seconds == 0
        if ended or always or self.guard.known.save or self.guard.known.stop:
            self.guard.settle(module)  # nothing is saved of an update that is not finite
        known, self.guard.known = self.guard.known, Wishes()
        last = last or known.stop or finished
        if known.save or last:
            with phase(f"saving {step_name(trainer.global_step)}"):
                self._save(trainer, last=last)
            self.timer.reset()
        if known.stop and not finished:
            raise Stopped(preempted=known.preempted > 0)

    def _save(self, trainer: L.Trainer, *, last: bool) -> None:
        """Begin a checkpoint when the one before is written; wait for the last one."""
        assert self.saves is not None
        self._settle(trainer)
        if self.store is not None:
            self.store.settle()
        state = trainer._checkpoint_connector.dump_checkpoint(weights_only=False)
        why = self.saves.begin(trainer.global_step, state)
        if last:
            why = why or self.saves.settle()
            if why:
                raise CheckpointError(why)
        elif trainer.is_global_zero:
            self._say(why)

    def _settle(self, trainer: L.Trainer) -> None:
        if self.saves is not None and (why := self.saves.settle()) and trainer.is_global_zero:
            self._say(why)

    def _say(self, why: str) -> None:
        """Say once why a checkpoint failed."""
        if why and why != self.said:
            self.said = why
            sys.stderr.write(f"{why}; training continues, and the next one is tried in its time\n")


def _held(trainer: L.Trainer, module: L.LightningModule) -> list[Tensor]:
    """Return the weights, and what the optimisers keep of them."""
    states = [state for optimiser in trainer.optimizers for state in optimiser.state.values()]
    kept = [value for state in states for value in state.values() if isinstance(value, Tensor)]
    return [*module.parameters(), *kept]
