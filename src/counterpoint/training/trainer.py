"""Lightning's Trainer as we need it: quiet, with our checkpoints and without its signals."""

import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import lightning as L
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.loggers import Logger
from lightning.pytorch.strategies import DDPStrategy
from lightning.pytorch.strategies.launchers import _MultiProcessingLauncher

from counterpoint.data.batches import check_lanes
from counterpoint.framework.settings import Training
from counterpoint.spelling import did_you_mean
from counterpoint.training.checkpoints.io import SafeCheckpointIO
from counterpoint.training.fsdp.strategy import Fsdp2Strategy
from counterpoint.training.launcher import placement, say_missing_srun
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.slurm_ranks import environments
from counterpoint.training.watchdog.lost_worker import lost_worker

INSTEAD = {
    "accumulate_grad_batches": "training=training_of(method, accumulate=4)",
    "precision": 'training=training_of(method, precision="bf16-mixed")',
    "max_steps": "steps=",
    "max_epochs": "epochs=",
    "limit_train_batches": "steps=, or give fewer images",
    "overfit_batches": "steps=, or give fewer images",
    "fast_dev_run": "steps=1",
    "logger": "loggers=[...]",
    "enable_checkpointing": "save_seconds=, the time between two checkpoints",
}
"""Arguments of Lightning's that a run has settings of its own for."""

LOGGERS = ("lightning.pytorch", "lightning.fabric", "pytorch_lightning", "lightning_fabric")


def trainer_for(
    training: Training,
    callbacks: list[Callback],
    loggers: Sequence[Logger] | Logger,
    *,
    steps: int,
    asked: dict[str, Any],
) -> L.Trainer:
    """Make a Trainer; what the user asks for is added to what we need."""
    asked = dict(asked)
    ours = "strategy" not in asked
    if asked.get("strategy") == "fsdp2":
        raise ValueError(
            "training: strategy fsdp2 is a setting; write training=training_of(method, "
            'strategy="fsdp2")'
        )
    checkpoints = SafeCheckpointIO()
    plugins = [checkpoints, *environments(os.environ)]
    needed: dict[str, list[Any]] = {"callbacks": callbacks, "plugins": plugins}
    together: dict[str, Any] = {
        key: [*_several(asked.pop(key, None)), *mine] for key, mine in needed.items()
    }
    wanted = asked.pop("devices", 1)
    say_missing_srun(wanted, os.environ)
    devices, nodes = placement(wanted, os.environ)
    if ours and training.strategy == "fsdp2" and (devices, nodes) != (1, 1):
        asked["strategy"] = Fsdp2Strategy()
    with quiet():
        runner = L.Trainer(
            max_steps=steps,
            devices=devices,
            num_nodes=asked.pop("num_nodes", nodes),
            precision=training.precision,
            accumulate_grad_batches=training.accumulate,
            logger=_several(loggers),
            enable_progress_bar=asked.pop("enable_progress_bar", False),
            enable_model_summary=asked.pop("enable_model_summary", False),
            enable_checkpointing=False,
            **together,
            **asked,
        )
    _refuse_returning_processes(runner)
    if ours and isinstance(runner.strategy, DDPStrategy):
        # Queue, bank and synchronised statistics are the same on all ranks by construction, and
        # would be sent from rank 0 to all of them before every step.
        runner.strategy._ddp_kwargs |= {"broadcast_buffers": False, "gradient_as_bucket_view": True}
    checkpoints.device = lambda: runner.strategy.root_device
    # Its handler talks to other ranks from inside of a signal, and hangs: see `Notice`.
    connector: Any = runner._signal_connector
    connector.register_signal_handlers = lambda: None
    # It asks the other ranks at every step whether one has got a signal, and waits: `Guard` does.
    loop: Any = runner.fit_loop.epoch_loop
    loop._broadcast_sigterm_tensor = lambda: None
    return runner


def _several(given: Any) -> list[Any]:
    """Return a list of what Lightning takes as one, as several or as None.

    >>> _several(None), _several("one"), _several(("one", "two"))
    ([], ['one'], ['one', 'two'])
    """
    if given is None:
        return []
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return list(given) if several else [given]


def check_trainer_options(asked: Iterable[str], *, own: Iterable[str]) -> None:
    """Refuse an argument that neither we (`own`) nor Lightning's Trainer know, or that is ours.

    >>> check_trainer_options(["epoch"], own=["epochs", "steps"])
    Traceback (most recent call last):
    TypeError: pretrain: got an unexpected argument epoch; did you mean epochs?
    """
    known = signature(L.Trainer).parameters
    for name in asked:
        if name in INSTEAD:
            raise ValueError(f"training: {name} is not given to the Trainer; write {INSTEAD[name]}")
        if name not in known:
            near = did_you_mean(name, [*own, *known])
            raise TypeError(f"pretrain: got an unexpected argument {name}" + (near and f"; {near}"))


def refuse_idle_ranks(training: Training, ranks: int) -> None:
    """Refuse more processes than there are images to share out at once."""
    if training.micro_batch < ranks:
        raise ValueError(
            f"training: {training.micro_batch} images at once for {ranks} processes; needs one or "
            "more for each: a larger --batch-size, a smaller --accumulate or fewer --devices"
        )
    check_lanes(training.lanes or 1, training.micro_batch, ranks=ranks)


def _refuse_returning_processes(runner: L.Trainer) -> None:
    """Refuse processes that would have to send their weights back when they end.

    Lightning forks them in a notebook, and the step, the exit code and a wish to stop stay behind
    in them. torchrun, SLURM and our own command start processes that write the run themselves.
    """
    if isinstance(runner.strategy.launcher, _MultiProcessingLauncher):
        raise ValueError(
            f"devices: {runner.world_size} processes cannot be started from a notebook or by "
            "forking; use devices=1 here, or train in a terminal: counterpoint pretrain DATA "
            f"--devices {runner.world_size} --out RUN, or torchrun --nproc-per-node "
            f"{runner.world_size} SCRIPT.py"
        )


def run_trainer(runner: L.Trainer, module: Pretrainer, start: Path | None) -> SystemExit | None:
    """Train; give what ended it early: a signal, or Ctrl-C twice, which Lightning makes an exit."""
    try:
        with quiet():
            runner.fit(module, ckpt_path=start)
    except SystemExit as stop:
        return stop
    except RuntimeError as error:
        lost = lost_worker(error)
        if lost is None:
            raise
        raise lost from None
    return None


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Lightning's advertisements and the warnings that are its own out of the log.

    Lightning is two packages that share one logger: whichever was imported last has it.
    """
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*LeafSpec.*", category=FutureWarning)
        warnings.filterwarnings("ignore", message=".*does not have many workers.*")
        warnings.filterwarnings("ignore", message=".*smaller than the logging interval.*")
        # For SLURM, and `placement` knows it: said twice, on every machine that has srun.
        warnings.filterwarnings("ignore", message=".*`srun` command is available.*")
        # It is: by epoch and step (`Order`), which Lightning does not know.
        warnings.filterwarnings("ignore", message=".*your dataloader is not resumable.*")
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
