"""Our checkpoints in place of Lightning's, which are pickles and may be torn."""

from pathlib import Path
from typing import Any

from lightning.fabric.plugins import CheckpointIO

from counterpoint.training.checkpoints.errors import CheckpointError, named
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.checkpoints.naming import step_of
from counterpoint.training.checkpoints.writing import discard


class SafeCheckpointIO(CheckpointIO):
    """Save and load `folder/step-00000120` for a Trainer: `plugins=[SafeCheckpointIO()]`.

    Lightning calls it on rank 0 only when it saves. Tensors are loaded to the CPU; Lightning
    copies them to where they belong.
    """

    def __init__(self, *, keep: int = 2) -> None:
        self.keep = keep

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        if storage_options is not None:
            raise TypeError("checkpoint: got storage_options, needs None: files are local")
        step = _step(Path(path))
        Checkpoints(Path(path).parent, self.keep).save(step, checkpoint)

    def load_checkpoint(
        self,
        path: str | Path,
        map_location: Any = None,  # noqa: ARG002 (Lightning's signature)
        weights_only: bool | None = None,  # noqa: ARG002, FBT001
    ) -> dict[str, Any]:
        return Checkpoints(Path(path).parent, self.keep).load(Path(path))

    def remove_checkpoint(self, path: str | Path) -> None:
        _step(Path(path))
        try:
            discard(Path(path))
        except FileNotFoundError:
            return
        except OSError as error:
            raise CheckpointError(
                f"checkpoint: {path} cannot be removed ({named(error)})"
            ) from error


def _step(path: Path) -> int:
    step = step_of(path.name)
    if step is None:
        raise CheckpointError(f"checkpoint: got {path}, needs a name like step-00000120")
    return step
