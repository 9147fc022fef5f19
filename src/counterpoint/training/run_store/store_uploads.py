"""What training writes, brought to the store in a thread: a checkpoint is valid by its manifest.

Logs go before the manifest: a run that resumes forgets the rows behind its checkpoint, but cannot
know rows that never arrived.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from counterpoint.data.stores.retry import StoreFailure, reason
from counterpoint.pulse import beat
from counterpoint.run_files import CHECKPOINTS, RUN
from counterpoint.training.checkpoints.manifest import MANIFEST
from counterpoint.training.checkpoints.step_names import step_name, step_of
from counterpoint.training.checkpoints.validity import looks_whole
from counterpoint.training.run_store.object_place import ObjectPlace, say_of_store
from counterpoint.training.run_store.store_lock import StoreLock, TakenOverError
from counterpoint.training.run_store.store_plan import objects_of, retired, to_upload, whole_files
from counterpoint.training.run_store.working_record import Seen, WorkingRecord, files_in

KEEP = 2  # checkpoints in the store, as on a disk
LOOK = 0.05  # seconds between two looks at the thread
AFTER_FAILURE = 15.0  # seconds for what is left of a run that has failed


class Uploads:
    """Bring a folder to its store: in a thread while the run trains, and wholly at its end."""

    def __init__(
        self, folder: Path, place: ObjectPlace, lock: StoreLock, record: WorkingRecord
    ) -> None:
        self.folder, self.place, self.lock, self.record = folder, place, lock, record
        self.turn = threading.Lock()
        self.wanted = self.busy = False
        self.failure: BaseException | None = None

    def settle(self) -> None:
        """Wait for the thread before the next checkpoint is written, while the store answers.

        A store that does not is not waited for: the thread goes on with the newest checkpoint
        when it is back.
        """
        while self.busy and not self.place.trouble.now:
            time.sleep(LOOK)
            beat()
        if isinstance(self.failure, TakenOverError):
            raise self.failure

    def begin(self) -> None:
        """Bring what is there now to the store, in a thread."""
        with self.turn:
            self.wanted = True
            if self.busy:
                return
            self.busy = True
        threading.Thread(target=self._run, name="store uploads", daemon=True).start()

    def finish(self) -> None:
        """Bring all of the run to the store, and wait for it; say where it is if that fails."""
        while self.busy:
            time.sleep(LOOK)
            beat()
        try:
            self._bring()
        except TakenOverError:
            raise
        except Exception as error:
            raise StoreFailure(
                f"out: {self.place.address} does not have the end of this run ({reason(error)}); "
                f"all of it is in {self.folder}: the same command with --resume auto brings it "
                "to the store"
            ) from error

    def abandon(self) -> None:
        """Bring the logs of a run that has failed to the store, if that is quickly done."""
        impatient = replace(self.place.patience, in_all=AFTER_FAILURE)
        end = time.monotonic() + AFTER_FAILURE
        while self.busy and time.monotonic() < end:
            time.sleep(LOOK)
        if not self.busy:
            self.place = replace(self.place, patience=impatient)
            self.begin()
            while self.busy and time.monotonic() < end:
                time.sleep(LOOK)

    def _run(self) -> None:
        while self._go_on():
            self.failure = None
            try:
                self._bring()
            except Exception as error:  # noqa: BLE001 (the run goes on: its folder has everything)
                self.failure = error
                if not isinstance(error, TakenOverError):
                    say_of_store(
                        f"{self.place.address} could not be written ({reason(error)}); training "
                        f"continues, and the next checkpoint tries again; all is in {self.folder}"
                    )

    def _go_on(self) -> bool:
        """Take the next wish of the run, or end: there is one thread at a time."""
        with self.turn:
            self.busy, self.wanted = self.wanted, False
            return self.busy

    def _bring(self) -> None:
        """Bring logs, the newest checkpoint and results to the store, in this order."""
        files = files_in(self.folder)
        changed = to_upload(files, self.record.uploaded)
        for name in [name for name in changed if name != RUN]:
            self._file(name)
        self._checkpoint(files)
        if RUN in changed:
            self.lock.check()
            self._file(RUN)

    def _file(self, name: str) -> None:
        """Upload a file as it is now; a log may grow meanwhile, and is uploaded again later."""
        file = self.folder / name
        try:
            known = file.stat()
            if known.st_size < 1 << 24:
                self.place.write(name, file.read_bytes())
            else:
                self.place.upload(file, name)
        except FileNotFoundError:
            if file.exists():
                raise
            return
        self.record.uploaded[name] = (known.st_size, known.st_mtime_ns)
        self.record.write(self.folder)

    def _checkpoint(self, known: Mapping[str, Seen]) -> None:
        """Upload the newest checkpoint, its manifest last, and delete old ones."""
        step = newest_step(self.folder)
        if step is None:
            return
        folder = self.folder / CHECKPOINTS / step_name(step)
        *files, manifest = objects_of(step, whole_files([path.name for path in folder.glob("*")]))
        if manifest not in known or self.record.uploaded.get(manifest) == known[manifest]:
            return
        listed = self.place.listing()
        if manifest in listed:  # of an earlier attempt: it must not vouch for half of this one
            self.place.delete(manifest)
        try:
            text = (self.folder / manifest).read_bytes()
            for name in files:
                self.place.upload(self.folder / name, name)
        except FileNotFoundError:
            if (self.folder / manifest).exists():
                raise
            return  # it was retired meanwhile: there is a newer one
        self.lock.check()
        self.place.write(manifest, text)
        others = {n: s for n, s in self.record.uploaded.items() if not n.endswith(MANIFEST)}
        self.record.uploaded = {**others, manifest: known[manifest]}
        self.record.write(self.folder)
        here = whole_here(self.folder)  # also those that stay for good
        for name in retired([*listed, *files, manifest], newest=step, keep=KEEP, also=here):
            self.place.delete(name)


def newest_step(folder: Path) -> int | None:
    """Return the step of the newest checkpoint in the folder of a run that looks whole."""
    return next(iter(whole_here(folder)), None)


def whole_here(folder: Path) -> list[int]:
    """List the steps in the folder of a run whose checkpoint looks whole, newest first."""
    steps = (step_of(path.name) for path in (folder / CHECKPOINTS).glob("step-*"))
    return [
        step
        for step in sorted((step for step in steps if step is not None), reverse=True)
        if looks_whole(folder / CHECKPOINTS / step_name(step))
    ]
