"""Where metrics go besides metrics.csv: Lightning's loggers by name, and nowhere unless asked."""

from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger

LoggerName = Literal["csv", "tensorboard", "wandb"]


def loggers_named(name: LoggerName, folder: Path) -> list[Logger]:
    """Make the loggers that write into the folder of a run; wandb stays offline."""
    if name != "csv" and find_spec(name) is None:
        raise ValueError(
            f"logger: {name} is not installed; pip install 'counterpoint[track]', or --logger csv"
        )
    if name == "tensorboard":
        return [TensorBoardLogger(folder, name="", version="tensorboard")]
    if name == "wandb":
        return [WandbLogger(save_dir=folder, offline=True)]
    return []
