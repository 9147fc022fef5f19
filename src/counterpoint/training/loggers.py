"""Where metrics go besides metrics.csv: Lightning's loggers by name, and nowhere unless asked."""

from pathlib import Path
from typing import Literal

from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger

LoggerName = Literal["csv", "tensorboard", "wandb"]


def loggers_named(name: LoggerName, folder: Path) -> list[Logger]:
    """Make the loggers that write into the folder of a run; wandb stays offline."""
    if name == "tensorboard":
        return [TensorBoardLogger(folder, name="", version="tensorboard")]
    if name == "wandb":
        return [WandbLogger(save_dir=folder, offline=True)]
    return []
