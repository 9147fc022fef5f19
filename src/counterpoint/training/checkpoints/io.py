"""Our checkpoints in place of Lightning's, which are pickles and may be torn."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from lightning.fabric.plugins import CheckpointIO

from counterpoint.failures import errno_name
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.checkpoints.step_names import step_name, step_of
from counterpoint.training.checkpoints.talk import Talk
from counterpoint.training.checkpoints.together import read_together
from counterpoint.training.checkpoints.writing import discard

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

NONE = -1  # in place of a step


class SafeCheckpointIO(CheckpointIO):
    """Save and load `folder/step-00000120` for a Trainer: `plugins=[SafeCheckpointIO()]`.

    Lightning calls it on rank 0 only when it saves. All ranks load together: each byte is read
    and hashed by one of them. Tensors are loaded to the CPU; Lightning copies them to where they
    belong. A folder of checkpoints in place of one is the newest in it that is whole.
    """

    def __init__(self, *, keep: int = 2) -> None:
        self.keep = keep
        self.device: Callable[[], torch.device] = lambda: torch.device("cpu")
        """Where ranks exchange bytes."""
        self.mesh: DeviceMesh | None = None
        """Where DTensors belong; without it they are loaded whole."""

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
        path, talk = Path(path), Talk.of_job(self.device())
        if step_of(path.name) is None:
            return self._load_newest(Checkpoints(path, self.keep), talk)
        checkpoints = Checkpoints(path.parent, self.keep)
        return checkpoints.used(lambda path: read_together(path, talk, self.mesh), path)

    def _load_newest(self, checkpoints: Checkpoints, talk: Talk) -> dict[str, Any]:
        """Try the newest first; rank 0 says which, and each is read by all ranks or by none."""

        def use(path: Path) -> dict[str, Any]:
            talk.number(int(step_of(path.name) or 0))
            return read_together(path, talk, self.mesh)

        state: dict[str, Any] | None = None
        if talk.rank == 0:
            found, read = checkpoints.newest_by(use)
            talk.number(NONE)
            if found is not None:
                sys.stderr.write(f"resume  continuing from {found.name}\n")
                state = read
        else:
            while (step := talk.number(NONE)) != NONE:
                try:
                    state = read_together(checkpoints.folder / step_name(step), talk, self.mesh)
                except CheckpointError:
                    continue  # rank 0 says which, and tries the next
        if state is None:
            raise CheckpointError(
                f"checkpoint: none in {checkpoints.folder} is intact; give another --out to begin "
                "a new run"
            )
        return state

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
