"""What a machine needs of a run in a store before it trains: a whole checkpoint, and logs."""

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from counterpoint.run_files import CHECKPOINTS, HEALTH, METRICS, QUARANTINE, RECEIPTS, RUN
from counterpoint.training.checkpoints.step_names import hidden, step_name
from counterpoint.training.checkpoints.validity import problem
from counterpoint.training.checkpoints.writing import delete, discard, make_folder, put_in_place
from counterpoint.training.run_store.object_place import ObjectPlace, Stamp, say_of_store
from counterpoint.training.run_store.store_plan import (
    IDENTITY,
    objects_of,
    stored_steps,
    whole_files,
    whole_steps,
)
from counterpoint.training.run_store.store_uploads import newest_step
from counterpoint.training.run_store.working_record import WorkingRecord, files_in

LOGS = (METRICS, HEALTH, RECEIPTS, QUARANTINE, RUN)


def fetch_run(folder: Path, place: ObjectPlace, *, alone: bool) -> int | None:
    """Bring the newest whole checkpoint and the logs into a folder; return the store's newest step.

    A folder of another run than the store's is set aside. Where only one machine trains (`alone`),
    a newer checkpoint in the folder, left by a process that was killed while it uploaded, is used;
    where several do, all of them must begin from the same, so it is the store's.
    """
    listed = place.listing()
    same_run(folder, place, listed)
    steps = whole_steps(listed)
    here = newest_step(folder)
    newest = max(steps, default=None)
    if here is not None and alone and (newest is None or here >= newest):
        if here != newest:
            say_of_store(
                f"{step_name(here)} is in {folder} and not yet in {place.address}; it is used"
            )
        return newest
    if not alone:
        _forget_newer(folder, newest)
    if here is not None and here == newest:
        return newest
    for step in steps:
        if _fetched(folder, place, listed, step):
            break
    fetch_files(folder, place, listed, LOGS)
    return newest


def run_word(place: ObjectPlace, listed: Mapping[str, Stamp]) -> str:
    """Return the word that the run at an address got when it began; empty where there is none."""
    if IDENTITY not in listed:
        return ""
    try:
        found = json.loads(place.read(IDENTITY))
    except (FileNotFoundError, ValueError):
        return ""
    return str(found.get("run", "")) if isinstance(found, dict) else ""


def same_run(folder: Path, place: ObjectPlace, listed: Mapping[str, Stamp]) -> None:
    """Set a folder aside that is of a run which the store does not have any more."""
    there, record = run_word(place, listed), WorkingRecord.read(folder)
    if record.run and record.run != there:
        aside = folder.parent.with_name(f"aside-{time.time_ns()}")
        folder.parent.rename(aside)
        say_of_store(
            f"{place.address} is another run than that of {aside / folder.name}, which is left "
            "alone; delete it when nobody needs it"
        )
        folder.mkdir(parents=True)
        record = WorkingRecord()
    if there and not record.run:
        WorkingRecord(there, record.uploaded).write(folder)


def _fetched(folder: Path, place: ObjectPlace, listed: Mapping[str, Stamp], step: int) -> bool:
    """Bring one checkpoint into a folder if it is whole, and say so if it is not."""
    target = folder / CHECKPOINTS / step_name(step)
    make_folder(target.parent)
    new = hidden(target, "new")
    new.mkdir(mode=0o700)
    try:
        names = objects_of(step, whole_files(stored_steps(listed)[step]))
        for name in names:
            place.download(name, listed[name].size, new / name.rpartition("/")[2])
        why = problem(new)
        if why is None:
            say_of_store(f"{step_name(step)} was read from {place.address}")
            put_in_place(new, target)
            _note(folder, names[-1:])
            return True
    except FileNotFoundError as error:
        why = f"a file is gone: {error}"
    delete(new)
    say_of_store(f"{step_name(step)} in {place.address} is damaged ({why}); trying the one before")
    return False


def fetch_files(
    folder: Path, place: ObjectPlace, listed: Mapping[str, Stamp], names: Iterable[str]
) -> None:
    """Bring files of a run into a folder, those that are there."""
    found = [name for name in names if name in listed]
    for name in found:
        place.download(name, listed[name].size, folder / name)
    _note(folder, found)


def _note(folder: Path, names: Iterable[str]) -> None:
    """Write down that the store has these files as they are in the folder."""
    record, files = WorkingRecord.read(folder), files_in(folder)
    record.uploaded |= {name: files[name] for name in names}
    record.write(folder)


def _forget_newer(folder: Path, newest: int | None) -> None:
    """Remove checkpoints that only this machine has."""
    while (here := newest_step(folder)) is not None and (newest is None or here > newest):
        say_of_store(f"{step_name(here)} is only on this machine, and is not used")
        discard(folder / CHECKPOINTS / step_name(here))
