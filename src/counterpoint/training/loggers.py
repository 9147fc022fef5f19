"""Where metrics go: Lightning's loggers by name. Nothing is sent anywhere unless asked."""

from pathlib import Path
from typing import Literal

from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger

from counterpoint.training.metrics import CsvRows

LoggerName = Literal["csv", "tensorboard", "wandb"]


def logger_named(name: LoggerName, folder: Path) -> Logger:
    """Make a logger that writes into the folder of a run; wandb stays offline."""
    if name == "tensorboard":
        return TensorBoardLogger(folder, name="", version="tensorboard")
    if name == "wandb":
        return WandbLogger(save_dir=folder, offline=True)
    return CsvRows(folder)
