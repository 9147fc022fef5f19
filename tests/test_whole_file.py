"""A file that is written at once is whole or not there, and what a kill leaves is removed."""

import errno
import json
import os
import signal
import stat
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

import forked
from counterpoint.whole_file import sweep_unfinished, whole_file, write_json, write_whole

CODE = """
import time
from pathlib import Path
from counterpoint.whole_file import whole_file, write_json
with whole_file(Path("x.txt")) as unfinished:
    unfinished.write_text("half")
    time.sleep(600)
"""


def names(folder):
    return [file.name for file in folder.iterdir()]


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    place = tmp_path / "deep" / "x.txt"
    write_whole(place, "old")
    with whole_file(place) as unfinished:
        unfinished.write_text("new")
        assert place.read_text() == "old"
    assert place.read_text() == "new"
    assert names(place.parent) == ["x.txt"]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    place = tmp_path / "x.txt"
    write_whole(place, b"old")

    def fails():
        with whole_file(place) as unfinished:
            unfinished.write_text("half")
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        fails()
    assert place.read_text() == "old"
    assert names(tmp_path) == ["x.txt"]


def test_a_full_disk_leaves_the_old_record_of_a_run(tmp_path, monkeypatch):
    place = tmp_path / "evaluation.json"
    write_json(place, {"knn": 0.5})

    def full(file, content):
        with file.open("wb") as half:
            half.write(content[:3])
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space left"):
        write_json(place, {"knn": 0.6})
    assert json.loads(place.read_text()) == {"knn": 0.5}
    assert names(tmp_path) == ["evaluation.json"]


def test_what_a_killed_process_leaves_is_removed(tmp_path):
    write_whole(tmp_path / "x.txt", "old")
    process = forked.Popen([sys.executable, "-c", CODE], cwd=tmp_path)
    while len(names(tmp_path)) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(names(tmp_path)) == 2
    sweep_unfinished(tmp_path)
    assert names(tmp_path) == ["x.txt"]
    assert (tmp_path / "x.txt").read_text() == "old"


def test_of_what_is_left_only_that_which_nobody_writes_is_removed(tmp_path):
    for name in ("a.parquet", "b.json"):
        (tmp_path / f".{name}.unfinished-1").write_text("half")
    sweep_unfinished(tmp_path, "*.parquet", older=3600)
    assert len(names(tmp_path)) == 2
    ahead = time.time() + 60  # by the clock of a file server
    os.utime(tmp_path / ".a.parquet.unfinished-1", (ahead, ahead))
    sweep_unfinished(tmp_path, "*.parquet")
    assert names(tmp_path) == [".b.json.unfinished-1"]


@pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_file_system_that_cannot_write_names_to_the_disk_is_no_obstacle(
    tmp_path, monkeypatch, number, fails
):
    real = os.fsync

    def folders_fail(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, "cannot")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", folders_fail)
    with pytest.raises(OSError, match="cannot") if fails else nullcontext():
        write_whole(tmp_path / "x.txt", "all of it")
    assert (tmp_path / "x.txt").read_text() == "all of it"
