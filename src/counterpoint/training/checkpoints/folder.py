"""A folder of checkpoints: the newest that is whole is always there."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from counterpoint.failures import errno_name
from counterpoint.pulse import beat
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.leftovers import put_back, tidy
from counterpoint.training.checkpoints.manifest import MANIFEST
from counterpoint.training.checkpoints.retention import Score, Written, best, hourly
from counterpoint.training.checkpoints.saving import encoded_text, whole_tensors, write
from counterpoint.training.checkpoints.step_names import step_name, step_of
from counterpoint.training.checkpoints.validity import (
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
    hours: float = 0.0
    """One is kept for good every so many hours; 0 keeps none."""
    score: Score | None = None
    """How good a run was at a step: the best one is kept."""

    def __post_init__(self) -> None:
        if self.keep < 2:
            raise ValueError(
                f"checkpoint: keep is {self.keep}, needs at least 2; with one, a damaged "
                "checkpoint is the end of the run"
            )
        if self.hours < 0:
            raise ValueError(f"checkpoint: one every {self.hours:g} hours; needs 0 or more")

    def save(self, step: int, state: dict[str, Any]) -> Path:
        """Write a checkpoint whole or not at all, then remove the oldest."""
        leaves, text = encoded_text(step, state)
        self.write(step, whole_tensors(leaves), text)
        return self.folder / step_name(step)

    def write(
        self,
        step: int,
        tensors: Mapping[str, Tensor],
        text: bytes,
        *,
        done: Callable[[], None] = beat,
    ) -> None:
        """Write an encoded state as one file of tensors, then remove the oldest."""
        with self.attempt(step) as alone:
            if alone:
                tidy(self.folder)
            target, otherwise = self.folder / step_name(step), self.kept(step)
            write(target, step, text=text, tensors=tensors, otherwise=otherwise, done=done)
            self.retire(step)

    @contextmanager
    def attempt(self, step: int) -> Iterator[bool]:
        """Be the only writer for a while; errors of the disk say what is still there."""
        try:
            make_folder(self.folder)
            with only_writer(self.folder) as alone:
                yield alone
        except OSError as error:
            raise CheckpointError(
                f"checkpoint: step {step} could not be written to {self.folder / step_name(step)} "
                f"({errno_name(error)}); {self.kept(step)}"
            ) from error

    def newest(self) -> Path | None:
        """Find the newest checkpoint that is whole, and say on stderr which ones are not."""
        return self.newest_by(_whole)[0]

    def newest_described(self) -> tuple[Path | None, dict[str, Any]]:
        """Find the newest whose small files are whole, and what they say; tensors are not read."""
        return self.newest_by(described)

    def newest_by(
        self, use: Callable[[Path], dict[str, Any]]
    ) -> tuple[Path | None, dict[str, Any]]:
        """Find the newest that can be used so, and what that gives."""
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
        return self.used(described, path)

    def load(self, path: Path) -> dict[str, Any]:
        """Read a checkpoint after checking every byte of it."""
        return self.used(read_checkpoint, path)

    def used(self, use: Callable[[Path], dict[str, Any]], path: Path) -> dict[str, Any]:
        """Use a checkpoint, and say what to do where that cannot be."""
        try:
            return use(path)
        except CheckpointError as error:
            why = str(error)  # the error itself holds on to all that was read
        raise CheckpointError(
            f"checkpoint: {path} cannot be used ({why}); take an earlier one, "
            "as Checkpoints.newest does"
        )

    def retire(self, step: int) -> None:
        """Remove what is older than the newest few; none that is newer than this step."""
        whole, apart = 0, self._apart()
        for other in self._steps():
            path = self.folder / step_name(other)
            if whole >= self.keep and other not in apart:
                try:
                    discard(path)
                except OSError as error:  # the new one is safe; only space is lost
                    sys.stderr.write(
                        f"checkpoint: {path} cannot be removed ({errno_name(error)})\n"
                    )
            elif other <= step and looks_whole(path):
                whole += 1

    def _apart(self) -> set[int]:
        """Return the steps that stay whatever is newer: one every few hours, and the best."""
        if not self.hours and self.score is None:
            return set()
        paths = [(step, self.folder / step_name(step)) for step in self._steps()]
        written = [
            Written(step, (path / MANIFEST).stat().st_mtime)
            for step, path in paths
            if looks_whole(path)
        ]
        return hourly(written, hours=self.hours) | best(written, score=self.score)

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

    def kept(self, step: int) -> str:
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
