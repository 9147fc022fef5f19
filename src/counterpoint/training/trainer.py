"""Lightning's Trainer as we need it: quiet, with our checkpoints and without its signals."""

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lightning as L
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.loggers import Logger

from counterpoint.framework.training import Training
from counterpoint.training.checkpoints.io import SafeCheckpointIO
from counterpoint.training.placement import placement
from counterpoint.training.pretrainer import Pretrainer


def trainer_for(
    training: Training,
    callbacks: list[Callback],
    loggers: Sequence[Logger],
    *,
    steps: int,
    asked: dict[str, Any],
) -> L.Trainer:
    """Make a Trainer; what the user asks for is added to what we need."""
    asked = dict(asked)
    needed: dict[str, list[Any]] = {"callbacks": callbacks, "plugins": [SafeCheckpointIO()]}
    together: dict[str, Any] = {key: [*asked.pop(key, []), *ours] for key, ours in needed.items()}
    devices, nodes = placement(asked.pop("devices", 1), os.environ)
    with quiet():
        runner = L.Trainer(
            max_steps=steps,
            devices=devices,
            num_nodes=asked.pop("num_nodes", nodes),
            precision=training.precision,
            logger=list(loggers),
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            **together,
            **asked,
        )
    # Its handler talks to other ranks from inside of a signal, and hangs: see `Notice`.
    runner._signal_connector.register_signal_handlers = lambda: None  # type: ignore[method-assign]
    return runner


def fit(runner: L.Trainer, module: Pretrainer, start: Path | None) -> SystemExit | None:
    """Train; give what ended it early: a signal, or Ctrl-C twice, which Lightning makes an exit."""
    try:
        with quiet():
            runner.fit(module, ckpt_path=start)
    except SystemExit as stop:
        return stop
    return None


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Lightning's advertisements and the warnings that are its own out of the log."""
    logger = logging.getLogger("lightning.pytorch")
    level = logger.level
    logger.setLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*LeafSpec.*", category=FutureWarning)
        warnings.filterwarnings("ignore", message=".*does not have many workers.*")
        warnings.filterwarnings("ignore", message=".*smaller than the logging interval.*")
        # It is: by epoch and step (`Order`), which Lightning does not know.
        warnings.filterwarnings("ignore", message=".*your dataloader is not resumable.*")
        try:
            yield
        finally:
            logger.setLevel(level)
