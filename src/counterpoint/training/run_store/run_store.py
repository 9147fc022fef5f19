"""A run at an address while it trains: fetched, locked, and brought to its store."""

import json
import os
import platform
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from counterpoint.address import is_address, whole_address
from counterpoint.data.locking import alone
from counterpoint.folder_lock import is_held
from counterpoint.training.checkpoints.step_names import step_name
from counterpoint.training.launcher import is_first, placement
from counterpoint.training.run_store.object_place import ObjectPlace
from counterpoint.training.run_store.run_address import made_folder, working_folder
from counterpoint.training.run_store.run_fetch import fetch_files, fetch_run, run_word, same_run
from counterpoint.training.run_store.store_lock import only_writer_there
from counterpoint.training.run_store.store_plan import IDENTITY, to_upload, whole_steps
from counterpoint.training.run_store.store_probe import refuse_unwritable
from counterpoint.training.run_store.store_uploads import Uploads
from counterpoint.training.run_store.working_record import WorkingRecord, files_in


@dataclass(eq=False)
class RunStore:
    """The store of a run, and the folder of this machine that is brought there."""

    folder: Path
    place: ObjectPlace
    newest: int | None = None
    """The newest whole checkpoint that the store had when it was looked at."""
    uploads: Uploads | None = None
    """There on the process that writes: rank 0."""

    @classmethod
    def of(cls, out: str | Path) -> "RunStore | None":
        """Return the store of an address that can be written to; None for a folder."""
        if not is_address(out):
            return None
        place = ObjectPlace(whole_address(out))
        if is_first(os.environ):
            refuse_unwritable(place)
        return cls(working_folder(place.address), place)

    def fetch(self, resume: str) -> None:
        """Bring what is needed to train on to this machine: whichever process is first does it.

        While a run trains in the folder nothing is fetched: it is that of our rank 0, or one that
        is in our way, as the lock will say.
        """
        made_folder(self.folder, self.place.address)
        with alone(self.folder.parent.parent / "fetch.lock"):
            if is_held(self.folder):
                return
            if resume == "never":
                self._refuse_old()
                return
            _, nodes = placement(1, os.environ)
            self.newest = fetch_run(self.folder, self.place, alone=nodes == 1)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the only run that writes to the store; after a failure, bring its logs there."""
        with only_writer_there(self.place) as lock:
            self._refuse_moved()
            record = self._named(WorkingRecord.read(self.folder))
            self.uploads = Uploads(self.folder, self.place, lock, record)
            try:
                yield
            except BaseException:
                self.uploads.abandon()
                raise

    def settle(self) -> None:
        """Wait for what is on its way, where this process writes and the store answers."""
        if self.uploads is not None:
            self.uploads.settle()

    def bring(self) -> None:
        """Begin to bring a new checkpoint to the store, where this process writes."""
        if self.uploads is not None:
            self.uploads.begin()

    def finish(self) -> None:
        """Wait until the store has all of the run."""
        if self.uploads is not None:
            self.uploads.finish()

    def complete(self, *names: str) -> None:
        """Make a run whole that has ended: here these files, in the store whatever it lacks."""
        missing = [name for name in names if not (self.folder / name).is_file()]
        fetch_files(self.folder, self.place, self.place.listing(), missing)
        if to_upload(files_in(self.folder), WorkingRecord.read(self.folder).uploaded):
            with self.held():
                self.finish()

    def _refuse_old(self) -> None:
        listed = self.place.listing()
        same_run(self.folder, self.place, listed)
        if steps := whole_steps(listed):
            raise ValueError(
                f"resume: {self.place.address} already holds a run, at {step_name(steps[0])}; "
                "--resume auto continues it, another --out starts a new one"
            )

    def _refuse_moved(self) -> None:
        """Refuse to train on from a checkpoint that is not the newest any more."""
        now = max(whole_steps(self.place.listing()), default=None)
        if now != self.newest:
            raise ValueError(
                f"out: {self.place.address} got another checkpoint (step {now}) while this run "
                "began; another run wrote it: start again"
            )

    def _named(self, record: WorkingRecord) -> WorkingRecord:
        """Give a new run its word, here and in the store."""
        there = run_word(self.place, self.place.listing())
        if not there:
            there = secrets.token_hex(8)
            made: Mapping[str, str] = {"run": there, "host": platform.node()}
            self.place.write(IDENTITY, json.dumps(made).encode())
        if record.run != there:
            record = WorkingRecord(there)
            record.write(self.folder)
        return record
