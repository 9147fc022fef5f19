"""A checkpoint that several ranks write: a hidden folder, a share of each, the manifest last."""

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from counterpoint.failures import errno_name
from counterpoint.framework.codec import from_text
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.checkpoints.hashed import opened_folder
from counterpoint.training.checkpoints.leftovers import tidy
from counterpoint.training.checkpoints.manifest import MANIFEST, PLAIN, TENSORS, Manifest, Stored
from counterpoint.training.checkpoints.rank_shares import share_name
from counterpoint.training.checkpoints.space import require_space
from counterpoint.training.checkpoints.step_names import hidden, step_name
from counterpoint.training.checkpoints.tensors import pieces
from counterpoint.training.checkpoints.writing import put_in_place, write_file

LOOK = 0.02  # seconds between two looks for the shares of others
VISIBLE = 10.0  # seconds in which a folder that was made elsewhere is seen here


@dataclass(frozen=True)
class NewCheckpoint:
    """The folder that a step is written to, as one of the ranks sees it."""

    checkpoints: Checkpoints
    step: int
    folder: Path
    rank: int = 0
    ranks: int = 1

    @classmethod
    def make(cls, checkpoints: Checkpoints, step: int, *, size: int, ranks: int) -> "NewCheckpoint":
        """Make the folder, for a checkpoint of so many bytes; rank 0 does."""
        with checkpoints.attempt(step) as alone:
            if alone:
                tidy(checkpoints.folder)
            require_space(checkpoints.folder, size, otherwise=checkpoints.kept(step))
            new = hidden(checkpoints.folder / step_name(step), "new")
            new.mkdir(mode=0o700)
        return cls(checkpoints, step, new, 0, ranks)

    def write_share(self, tensors: Mapping[str, Tensor], *, done: Callable[[], None]) -> Stored:
        """Write what this rank has; rank 0 is told of it, and of an error."""
        name = TENSORS if self.ranks == 1 else share_name(self.rank, self.ranks)
        try:
            self._wait_for_folder()
            with opened_folder(self.folder) as folder:
                stored = write_file(name, folder, pieces(tensors), done=done)
                self._report(folder, {"bytes": stored.bytes, "sha256": stored.sha256})
        except OSError as error:
            words = f"{name} could not be written ({errno_name(error)})"
            with suppress(OSError, CheckpointError), opened_folder(self.folder) as folder:
                self._report(folder, {"error": words})
            raise self._failure(words) from error
        return stored

    def finish(self, own: Stored, text: bytes, *, given_up: threading.Event) -> None:
        """Wait for the shares of all ranks, write the manifest, and put the folder in its place."""
        try:
            with opened_folder(self.folder) as folder:
                plain = write_file(PLAIN, folder, [text], done=_nothing)
                others = [self._share(rank, given_up) for rank in range(1, self.ranks)]
                manifest = Manifest(self.step, plain, (own, *others)).write()
                write_file(MANIFEST, folder, [manifest], done=_nothing)
                for rank in range(1, self.ranks):
                    os.unlink(_record(rank, self.ranks), dir_fd=folder)
                os.fsync(folder)
        except OSError as error:
            raise self._failure(f"it could not be written ({errno_name(error)})") from error
        with self.checkpoints.attempt(self.step):
            put_in_place(self.folder, self.checkpoints.folder / step_name(self.step))
            self.checkpoints.retire(self.step)

    def remove(self) -> None:
        """Delete what is unfinished: it only takes up space."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_for_folder(self) -> None:
        """Wait until this machine sees what another has made: file systems may take a while."""
        end = time.monotonic() + VISIBLE
        while not self.folder.is_dir() and time.monotonic() < end:
            time.sleep(LOOK)

    def _report(self, folder: int, record: dict[str, object]) -> None:
        """Tell rank 0, by a small file, what was written."""
        if self.rank > 0:
            text = json.dumps(record).encode() + b"\n"
            write_file(_record(self.rank, self.ranks), folder, [text], done=_nothing)

    def _share(self, rank: int, given_up: threading.Event) -> Stored:
        """Wait until a rank has written its share."""
        file = self.folder / _record(rank, self.ranks)
        while not given_up.is_set():
            with suppress(OSError, ValueError):  # not there yet, or half of it
                match from_text(file.read_text()):
                    case {"error": str(words)}:
                        raise self._failure(f"rank {rank}: {words}")
                    case {"bytes": int(size), "sha256": str(digest)}:
                        return Stored(size, digest)
            given_up.wait(LOOK)
        raise self._failure(f"the share of rank {rank} did not come")

    def _failure(self, words: str) -> CheckpointError:
        kept = self.checkpoints.kept(self.step)
        return CheckpointError(f"checkpoint: step {self.step}: {words}; {kept}")


def _record(rank: int, ranks: int) -> str:
    """Name the small file that says what a rank has written."""
    return share_name(rank, ranks).replace(".safetensors", ".json")


def _nothing() -> None:
    """The pulse of training is not for what a thread writes."""
