"""Where a run is, as three numbers, and as Lightning's counters."""

from dataclasses import dataclass
from typing import Any

import lightning as L


@dataclass(frozen=True, slots=True)
class Position:
    """The next batch of a run: `cursor` batches of `epoch` are done, `step` updates in all."""

    epoch: int = 0
    cursor: int = 0
    step: int = 0


def position_of(trainer: L.Trainer) -> Position:
    """Read where a trainer is after a batch or after an epoch: the same either way."""
    done, epoch = trainer.fit_loop.epoch_loop.batch_progress.current.ready, trainer.current_epoch
    if done == trainer.num_training_batches:
        return Position(epoch + 1, 0, trainer.global_step)
    return Position(epoch, done, trainer.global_step)


def counters(place: Position, *, length: int) -> dict[str, Any]:
    """Write a place as the counters of Lightning's loops, for epochs of `length` batches.

    Lightning's own, saved in the middle of a hook, say that a batch or an epoch has begun and
    not ended, and are repaired by guesses when they are loaded. These say that all that was
    begun has ended.
    """
    begun = place.epoch + (place.cursor > 0)
    batches = place.epoch * length + place.cursor
    return {
        "epoch_progress": _both(_four(begun, place.epoch), _four(begun, place.epoch)),
        "epoch_loop.batch_progress": _both(
            _four(batches, batches), _four(place.cursor, place.cursor)
        )
        | {"is_last_batch": False},
        "epoch_loop.scheduler_progress": _both(_two(place.step), _two(place.cursor)),
        "epoch_loop.automatic_optimization.optim_progress": {
            "optimizer": {
                "step": _both(_two(place.step), _two(place.cursor)),
                "zero_grad": _both(_three(place.step), _three(place.cursor)),
            }
        },
        "epoch_loop.state_dict": {"_batches_that_stepped": place.step},
    }


def _both(total: dict[str, int], current: dict[str, int]) -> dict[str, Any]:
    return {"total": total, "current": current}


def _two(done: int) -> dict[str, int]:
    return {"ready": done, "completed": done}


def _three(done: int) -> dict[str, int]:
    return {"ready": done, "started": done, "completed": done}


def _four(begun: int, done: int) -> dict[str, int]:
    return {"ready": begun, "started": begun, "processed": done, "completed": done}
