"""Runs, weights and checkpoints in a store, as files of this machine: fetched when asked for.

What was fetched is kept, and fetched again when it has changed in the store. Results that are
written beside it are brought back.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from counterpoint.address import is_address, whole_address
from counterpoint.data.locking import alone
from counterpoint.run_files import (
    BEFORE,
    ENCODER,
    EVALUATION,
    HEALTH,
    METHOD,
    METRICS,
    MODEL,
    QUARANTINE,
    RECEIPTS,
    RUN,
    START,
)
from counterpoint.training.run_store.object_place import PIECE, ObjectPlace, Stamp
from counterpoint.training.run_store.run_address import (
    address_of,
    copy_folder,
    made_folder,
    refuse_scheme,
    working_folder,
)
from counterpoint.training.run_store.store_plan import ORDER, whole_files
from counterpoint.training.run_store.working_record import WorkingRecord, files_in
from counterpoint.whole_file import write_whole

SMALL = (RUN, METHOD, METRICS, HEALTH, RECEIPTS, QUARANTINE, EVALUATION, BEFORE)
TENSORS = (MODEL, START, ENCODER)
FOREIGN = ("config.json", ENCODER)  # of a timm folder; and what other programs load
VERSIONS = ".versions.json"


def local_run(place: str | Path, *, tensors: bool = True) -> Path:
    """Return the folder of a run: its own, or a copy of what is in a store.

    `tensors` says whether its weights are needed; its small files always are.
    """
    if not is_address(place):
        return Path(place)
    return _copied(place, (*SMALL, *TENSORS) if tensors else SMALL, what="run")


def local_weights(place: str | Path) -> Path:
    """Return a file or folder of weights: its own, or a copy of what is in a store."""
    if not is_address(place):
        return Path(place)
    address = whole_address(place)
    if address.endswith(".safetensors"):
        above, _, name = address.rpartition("/")
        return _copied(above, (name, METHOD), what="weights") / name
    return _copied(address, (*FOREIGN, MODEL, METHOD), what="weights")


def local_checkpoint(place: str) -> str:
    """Return the folder of a checkpoint: its own, or a copy; other words are given back."""
    if not is_address(place):
        return place
    refuse_scheme(place, what="resume")
    files = whole_files(ObjectPlace(whole_address(place)).listing()) or ORDER
    return str(_copied(place, files, what="resume"))


def bring_back(folder: Path | None, *names: str) -> None:
    """Bring results that were written into the copy of a run to its store."""
    address = None if folder is None else address_of(folder)
    if folder is None or address is None:
        return
    place = ObjectPlace(address)
    for name in names:
        place.upload(folder / name, name)
    if folder == working_folder(address):
        record, files = WorkingRecord.read(folder), files_in(folder)
        record.uploaded |= {name: files[name] for name in names}
        record.write(folder)
    else:
        listed = place.listing()
        _keep(folder, _versions(folder) | {name: listed[name].version for name in names})


def _copied(place: str | Path, names: Iterable[str], *, what: str) -> Path:
    """Bring some files of a folder in a store to this machine, those that are there."""
    refuse_scheme(place, what=what)
    address = whole_address(place)
    store = ObjectPlace(address)
    listed = store.listing()
    wanted = [name for name in names if name in listed]
    if not wanted:
        known = ", ".join(sorted(listed)[:3]) or "nothing"
        needs = f"{next(iter(names))} is not there"
        raise FileNotFoundError(f"{what}: {address} holds {known}; {needs}")
    folder = made_folder(copy_folder(address), address)
    with alone(folder.parent / "fetch.lock"):
        versions = _versions(folder)
        for name in wanted:
            if versions.get(name) != listed[name].version or not (folder / name).is_file():
                versions[name] = _fetch(store, name, listed[name], folder / name)
        for name in names:
            if name not in listed:  # it was deleted there
                (folder / name).unlink(missing_ok=True)
        _keep(folder, versions)
    return folder


def _fetch(store: ObjectPlace, name: str, stamp: Stamp, file: Path) -> str:
    """Read a whole object; one that is replaced meanwhile is read again."""
    if stamp.size <= PIECE:
        write_whole(file, store.read(name))
        return stamp.version
    for _ in range(3):
        store.download(name, stamp.size, file)
        now = store.listing()[name]
        if now.version == stamp.version:
            return stamp.version
        stamp = now
    raise OSError(f"{store.address}/{name} changes while it is read; try again when it is written")


def _versions(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / VERSIONS).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _keep(folder: Path, versions: dict[str, str]) -> None:
    write_whole(folder / VERSIONS, json.dumps(versions))
