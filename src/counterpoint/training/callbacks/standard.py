"""Who watches over a run, in the order in which they are called."""

from pathlib import Path

from lightning.pytorch.callbacks import Callback

from counterpoint.data import Source
from counterpoint.training.callbacks.bad_samples import Quarantine
from counterpoint.training.callbacks.guard import Guard
from counterpoint.training.callbacks.health_watch import HealthWatch
from counterpoint.training.callbacks.heartbeat import Heartbeat
from counterpoint.training.callbacks.keeper import Keeper
from counterpoint.training.callbacks.ledger import Ledger
from counterpoint.training.callbacks.metrics import EVERY, MetricRows
from counterpoint.training.callbacks.progress_lines import ProgressLines
from counterpoint.training.callbacks.timer import Timer
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.run_store.run_store import RunStore
from counterpoint.training.signals import Notice


def standard_callbacks(
    source: Source,
    folder: Path,
    notice: Notice,
    *,
    steps: int,
    epoch: int,
    save_seconds: float,
    checkpoints: Checkpoints,
    max_bad: float,
    patience: float,
    health: bool,
    store: RunStore | None = None,
) -> list[Callback]:
    """Make the watchers of a run; the keeper comes last, so that it saves what the others know."""
    timer = Timer(save_seconds)
    guard = Guard(folder, notice, timer)
    metrics = MetricRows(folder, every=max(1, min(EVERY, steps, epoch)))
    return [
        metrics,
        ProgressLines(metrics, steps=steps),
        Heartbeat(notice, patience=patience),
        guard,
        Ledger(folder),
        Quarantine(source, folder, guard, max_bad=max_bad),
        *([HealthWatch(source, folder)] if health else []),
        Keeper(checkpoints, guard, timer, store),
    ]
