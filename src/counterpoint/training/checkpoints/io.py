"""Our checkpoints in place of Lightning's, which are pickles and may be torn."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch.distributed as dist
from lightning.fabric.plugins import CheckpointIO

from counterpoint.failures import errno_name
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.checkpoints.step_names import step_name, step_of
from counterpoint.training.checkpoints.writing import discard

NONE = -1  # in place of a step


class SafeCheckpointIO(CheckpointIO):
    """Save and load `folder/step-00000120` for a Trainer: `plugins=[SafeCheckpointIO()]`.

    Lightning calls it on rank 0 only when it saves. Tensors are loaded to the CPU; Lightning
    copies them to where they belong. A folder of checkpoints in place of one is the newest in it
    that is whole: rank 0 finds it, by reading it, and `told` gives its step to the other ranks.
    """

    def __init__(self, *, keep: int = 2) -> None:
        self.keep = keep
        self.told: Callable[[int], int] = int

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
        path = Path(path)
        if step_of(path.name) is not None:
            return Checkpoints(path.parent, self.keep).load(path)
        return self._load_newest(Checkpoints(path, self.keep))

    def _load_newest(self, checkpoints: Checkpoints) -> dict[str, Any]:
        first = not dist.is_initialized() or dist.get_rank() == 0
        found, state = checkpoints.newest_state() if first else (None, {})
        step = self.told(NONE if found is None else int(step_of(found.name) or 0))
        if step == NONE:
            raise CheckpointError(
                f"checkpoint: none in {checkpoints.folder} is intact; give another --out to begin "
                "a new run"
            )
        if first:
            sys.stderr.write(f"resume  continuing from {step_name(step)}\n")
            return state
        return checkpoints.load(checkpoints.folder / step_name(step))

    def remove_checkpoint(self, path: str | Path) -> None:
        _step(Path(path))
        try:
            discard(Path(path))
        except FileNotFoundError:
            return
        except OSError as error:
            raise CheckpointError(
                f"checkpoint: {path} cannot be removed ({errno_name(error)})"
            ) from error


def _step(path: Path) -> int:
    step = step_of(path.name)
    if step is None:
        raise CheckpointError(f"checkpoint: got {path}, needs a name like step-00000120")
    return step
