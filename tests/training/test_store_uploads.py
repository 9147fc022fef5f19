"""Uploads that are cut off at any request leave no checkpoint that looks whole and is not."""

import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from counterpoint.training.checkpoints import Checkpoints, problem
from counterpoint.training.run_store.object_place import ObjectPlace
from counterpoint.training.run_store.run_fetch import fetch_run
from counterpoint.training.run_store.store_lock import StoreLock
from counterpoint.training.run_store.store_plan import objects_of, retired, to_upload, whole_steps
from counterpoint.training.run_store.store_uploads import Uploads
from counterpoint.training.run_store.working_record import WorkingRecord
from training.states import state_of


class CutOffError(Exception):
    """The process is killed here."""


@dataclass(frozen=True, eq=False)
class Fragile(ObjectPlace):
    """A store in memory whose client is killed before its nth change."""

    left: list = field(default_factory=list)

    def _do(self, what, name, do):
        if what in ("write", "delete") and self.left:
            if self.left[0] == 0:
                raise CutOffError
            self.left[0] -= 1
        return super()._do(what, name, do)


def saved(folder, step):
    """A run that has written a checkpoint and its logs on the disk."""
    Checkpoints(folder / "checkpoints").save(step, state_of(step))
    rows = "".join(f"{n}\n" for n in range(step + 1))
    (folder / "metrics.csv").write_text(rows)
    (folder / "run.json").write_text(json.dumps({"steps": step}))


def uploads_of(folder, place):
    lock = StoreLock(place)
    lock.write()
    return Uploads(folder, place, lock, WorkingRecord.read(folder))


@pytest.fixture
def address():
    return f"memory://test-{uuid.uuid4().hex}/run"


def test_a_kill_before_any_request_leaves_a_whole_checkpoint_and_its_logs(tmp_path, address):
    changes, seen = 0, set()
    for cut in range(100):
        work, place = tmp_path / f"work-{cut}", Fragile(f"{address}-{cut}")
        for step in (1, 2, 3):
            saved(work, step)
            uploads_of(work, place).finish()
        saved(work, 4)
        uploads = uploads_of(work, place)
        place.left[:] = [cut]
        try:
            uploads._bring()
        except CutOffError:
            changes += 1
        else:
            break
        place.left.clear()
        empty = tmp_path / f"empty-{cut}"
        empty.mkdir()
        fetch_run(empty, place, alone=True)
        (found,) = (empty / "checkpoints").glob("step-*")
        step = int(found.name[-1])
        seen.add(step)
        assert problem(found) is None
        assert (empty / "metrics.csv").read_text().splitlines()[: step + 1] == [
            str(n) for n in range(step + 1)
        ]
        assert json.loads((empty / "run.json").read_text())["steps"] <= step
        saved(work, 5)  # the run is started again where it was, and ends
        uploads_of(work, place).finish()
        assert whole_steps(place.listing())[0] == 5
        assert len(whole_steps(place.listing())) == 2
    assert changes >= 8  # logs, three files, three deletions, run.json
    assert seen == {3, 4}


def test_a_newer_checkpoint_of_this_machine_is_used_where_it_trains_alone(tmp_path, address):
    work, place = tmp_path / "work", ObjectPlace(address)
    saved(work, 1)
    uploads_of(work, place).finish()
    saved(work, 2)
    assert fetch_run(work, place, alone=True) == 1
    assert Checkpoints(work / "checkpoints").newest().name == "step-00000002"
    assert fetch_run(work, place, alone=False) == 1
    assert Checkpoints(work / "checkpoints").newest().name == "step-00000001"


def test_a_damaged_checkpoint_falls_back_to_the_one_before_and_is_replaced(
    tmp_path, address, capsys
):
    work, place = tmp_path / "work", ObjectPlace(address)
    for step in (1, 2):
        saved(work, step)
        uploads_of(work, place).finish()
    name = objects_of(2)[1]
    whole = place.read(name)
    place.write(name, whole[:-1] + bytes([whole[-1] ^ 1]))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert fetch_run(empty, place, alone=True) == 2
    assert [path.name for path in (empty / "checkpoints").glob("step-*")] == ["step-00000001"]
    assert "step-00000002 in" in capsys.readouterr().err
    saved(empty, 2)
    uploads_of(empty, place).finish()
    assert place.read(name) == whole


def test_what_is_deleted_and_uploaded_and_in_which_order():
    names = [*objects_of(1), *objects_of(2)[:2], *objects_of(3), *objects_of(4), *objects_of(9)]
    gone = retired(names, newest=4, keep=2)
    assert gone[0] == objects_of(1)[-1]
    assert {*gone} == {*objects_of(1), *objects_of(2)[:2]}
    files = {"run.json": (1, 1), "a.csv": (1, 1), ".store.json": (1, 1), "run.lock": (0, 1)}
    files |= {"checkpoints/step-00000001/state.json": (1, 1), "tensorboard/events": (3, 3)}
    assert to_upload(files, {"a.csv": (1, 1)}) == ["tensorboard/events", "run.json"]
    assert to_upload(files, {"a.csv": (1, 0)}) == ["a.csv", "tensorboard/events", "run.json"]


def test_nothing_outside_of_the_folder_is_written(tmp_path, address):
    import fsspec

    place = ObjectPlace(address)
    place.write("metrics.csv", b"1\n")
    fsspec.filesystem("memory").pipe_file(f"{place._path('')}/a/../../../outside", b"x")
    assert [*place.listing()] == ["metrics.csv"]
    assert Path("outside").exists() is False
