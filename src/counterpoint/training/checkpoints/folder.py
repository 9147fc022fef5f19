"""A folder of checkpoints: the newest that is whole is always there."""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterpoint.failures import errno_name
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.encoding import encode_state
from counterpoint.training.checkpoints.leftovers import put_back, tidy
from counterpoint.training.checkpoints.manifest import PLAIN
from counterpoint.training.checkpoints.saving import write
from counterpoint.training.checkpoints.step_names import step_name, step_of
from counterpoint.training.checkpoints.validity import (
    MOST,
    described,
    looks_whole,
    problem,
    read_checkpoint,
)
from counterpoint.training.checkpoints.writing import discard, make_folder, only_writer


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a run, of which the newest few are kept.

    >>> import tempfile
    >>> place = Checkpoints(Path(tempfile.mkdtemp()))
    >>> place.save(120, {"epoch": 3, "betas": (0.9, 0.95)}).name
    'step-00000120'
    >>> place.load(place.newest())
    {'epoch': 3, 'betas': (0.9, 0.95)}
    """

    folder: Path
    keep: int = 2

    def __post_init__(self) -> None:
        if self.keep < 2:
            raise ValueError(
                f"checkpoint: keep is {self.keep}, needs at least 2; with one, a damaged "
                "checkpoint is the end of the run"
            )

    def save(self, step: int, state: dict[str, Any]) -> Path:
        """Write a checkpoint whole or not at all, then remove the oldest."""
        if step_of(step_name(step)) is None:
            raise ValueError(f"checkpoint: step is {step}, needs a number from 0 to 10^18")
        tensors, plain = encode_state(state)
        text = json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()
        if len(text) > MOST[PLAIN]:
            raise CheckpointError(
                f"checkpoint: the state of step {step} has {len(text)} bytes besides its tensors, "
                f"at most {MOST[PLAIN]}; put long lists of numbers into tensors"
            )
        target = self.folder / step_name(step)
        try:
            make_folder(self.folder)
            with only_writer(self.folder) as alone:
                if alone:
                    tidy(self.folder)
                write(target, step, text=text, tensors=tensors, otherwise=self._kept(step))
                self._retire(step)
        except OSError as error:
            raise CheckpointError(
                f"checkpoint: step {step} could not be written to {target} ({errno_name(error)}); "
                f"{self._kept(step)}"
            ) from error
        return target

    def newest(self) -> Path | None:
        """Find the newest checkpoint that is whole, and say on stderr which ones are not."""
        return self._newest(_whole)[0]

    def newest_described(self) -> tuple[Path | None, dict[str, Any]]:
        """Find the newest whose small files are whole, and what they say; tensors are not read."""
        return self._newest(described)

    def newest_state(self) -> tuple[Path | None, dict[str, Any]]:
        """Read the newest checkpoint that is whole; each is hashed once, while it is read."""
        return self._newest(read_checkpoint)

    def _newest(self, use: Callable[[Path], dict[str, Any]]) -> tuple[Path | None, dict[str, Any]]:
        put_back(self.folder)
        skipped: list[tuple[str, str]] = []
        found: Path | None = None
        state: dict[str, Any] = {}
        for step in self._steps():
            path = self.folder / step_name(step)
            try:
                state, found = use(path), path
                break
            except CheckpointError as error:
                skipped.append((path.name, str(error)))  # the error holds on to what was read
        then = f"continuing from {found.name}" if found else "no other checkpoint is intact"
        for name, why in skipped:
            sys.stderr.write(f"checkpoint: {name} is damaged ({why}); {then}\n")
        return found, state

    def describe(self, path: Path) -> dict[str, Any]:
        """Read what a checkpoint says besides its tensors, which are empty."""
        return self._used(described, path)

    def load(self, path: Path) -> dict[str, Any]:
        """Read a checkpoint after checking every byte of it."""
        return self._used(read_checkpoint, path)

    def _used(self, use: Callable[[Path], dict[str, Any]], path: Path) -> dict[str, Any]:
        try:
            return use(path)
        except CheckpointError as error:
            why = str(error)  # the error itself holds on to all that was read
        raise CheckpointError(
            f"checkpoint: {path} cannot be used ({why}); take an earlier one, "
            "as Checkpoints.newest does"
        )

    def _retire(self, step: int) -> None:
        """Remove what is older than the newest few; none that is newer than this step."""
        whole = 0
        for other in self._steps():
            path = self.folder / step_name(other)
            if whole >= self.keep:
                try:
                    discard(path)
                except OSError as error:  # the new one is safe; only space is lost
                    sys.stderr.write(
                        f"checkpoint: {path} cannot be removed ({errno_name(error)})\n"
                    )
            elif other <= step and looks_whole(path):
                whole += 1

    def _steps(self) -> list[int]:
        """List the steps that have a checkpoint, newest first."""
        try:
            names = [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise CheckpointError(
                f"checkpoint: {self.folder} cannot be read ({errno_name(error)})"
            ) from error
        return sorted((step for name in names if (step := step_of(name)) is not None), reverse=True)

    def _kept(self, step: int) -> str:
        """Say which checkpoint is still there when this step has failed."""
        with suppress(CheckpointError):
            for other in self._steps():
                if other != step and looks_whole(self.folder / step_name(other)):
                    return f"{step_name(other)} is kept"
        return "no other checkpoint is whole"


def _whole(path: Path) -> dict[str, Any]:
    why = problem(path)
    if why is not None:
        raise CheckpointError(why)
    return {}
