"""Two runs in one folder: the second is refused at once; a dead one is in nobody's way."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

import forked
from counterpoint import ArraySource, Training, folder_lock, pretrain
from counterpoint.folder_lock import FILE, STALE, LockedError, only_process
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet

HOLD = """
import os, sys, time
from pathlib import Path
from counterpoint.folder_lock import only_process
with only_process(Path(sys.argv[1])):
    child = os.fork() if "fork" in sys.argv else 1
    if child == 0:
        time.sleep(60)
    print(child, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of a folder, perhaps with a worker."""
    started = []

    def start(*more):
        process = forked.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path), *more], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process, int(process.stdout.readline())

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_second_run_is_refused_at_once_and_told_by_whom(cifar, tmp_path, holder):
    process, _ = holder()
    began = time.monotonic()
    with pytest.raises(LockedError, match=rf"process {process.pid} on .*kill {process.pid}"):
        pretrain(
            simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)), size=32),
            ArraySource("cifar10", cifar.train.images[:48]),
            out=tmp_path,
            training=Training(batch=16),
            resume="auto",
            steps=2,
        )
    assert time.monotonic() - began < 20
    assert {path.name for path in tmp_path.iterdir()} == {FILE}, "something was written"


def test_a_run_that_was_killed_is_in_nobodys_way_though_its_workers_live(tmp_path, holder):
    process, worker = holder("fork")
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.kill(worker, 0)  # it is still there
    with only_process(tmp_path):
        assert json.loads((tmp_path / FILE).read_text())["pid"] == os.getpid()
    os.kill(worker, signal.SIGKILL)
    assert (tmp_path / FILE).read_text() == ""


def test_a_process_does_not_lock_a_folder_twice(tmp_path):
    with only_process(tmp_path), pytest.raises(LockedError), only_process(tmp_path):
        pass
    with only_process(tmp_path):
        pass


@pytest.mark.parametrize(
    ("age", "renewed", "refused"),
    [(0.0, True, True), (0.0, False, False), (STALE + 5, False, False)],
)
def test_a_run_on_another_machine_counts_by_its_signs(tmp_path, monkeypatch, age, renewed, refused):
    monkeypatch.setattr(folder_lock, "RENEWED", 0.2)
    file, over = tmp_path / FILE, threading.Event()
    file.write_text(json.dumps({"host": "elsewhere", "pid": 7, "began": "1", "since": "then"}))
    now = time.time()
    os.utime(file, (now - age, now - age))
    other = threading.Thread(target=folder_lock._renew, args=(file, over))
    if renewed:
        other.start()
    try:
        if refused:
            words = r"process 7 on elsewhere writes to .* since then.*stop it there"
            with pytest.raises(LockedError, match=words), only_process(tmp_path):
                pass
        else:
            with only_process(tmp_path):
                assert json.loads(file.read_text())["pid"] == os.getpid()
    finally:
        over.set()
        if renewed:
            other.join()


def test_a_run_that_failed_lets_go(tmp_path):
    with pytest.raises(KeyError), only_process(tmp_path):
        raise KeyError
    assert (tmp_path / FILE).read_text() == ""


def test_where_there_are_no_locks_the_file_says_who_lives(tmp_path, monkeypatch):
    def without(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(folder_lock.fcntl, "lockf", without)
    file, own = tmp_path / FILE, folder_lock._own()
    file.write_text(
        json.dumps(own | {"pid": os.getppid(), "began": folder_lock.began(os.getppid())})
    )
    with pytest.raises(LockedError, match=f"process {os.getppid()}"):
        only_process(tmp_path).__enter__()
    file.write_text(json.dumps(own | {"pid": os.getppid(), "began": "another process"}))
    with only_process(tmp_path):
        pass


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"pid": "x", "host": 3}', "\0" * 100])
def test_a_damaged_lock_file_locks_nothing(tmp_path, text):
    file = tmp_path / FILE
    file.write_text(text)
    os.utime(file, (0, 0))
    with only_process(tmp_path):
        assert json.loads(file.read_text())["pid"] == os.getpid()


def test_a_lock_that_its_holder_removes_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    """Else two processes would each hold a file of that name."""
    take, taken = folder_lock._take, []

    def slow(descriptor, folder, lock):
        if not taken:
            (tmp_path / FILE).unlink()
        taken.append(descriptor)
        take(descriptor, folder, lock)

    monkeypatch.setattr(folder_lock, "_take", slow)
    with only_process(tmp_path):
        assert len(taken) == 2
        assert json.loads((tmp_path / FILE).read_text())["pid"] == os.getpid()


def test_a_lock_whose_folder_is_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    """As the first of two `shard` commands does at its end."""
    take, taken = folder_lock._take, []
    (tmp_path / ".parts").mkdir()

    def slow(descriptor, folder, lock):
        if not taken:
            shutil.rmtree(tmp_path / ".parts")
        taken.append(descriptor)
        take(descriptor, folder, lock)

    monkeypatch.setattr(folder_lock, "_take", slow)
    with only_process(tmp_path, ".parts/job.lock"):
        assert len(taken) == 2
        assert (tmp_path / ".parts/job.lock").is_file()


def test_others_of_a_group_may_take_a_lock_that_was_left(tmp_path):
    before = os.umask(0o002)
    try:
        with only_process(tmp_path):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o664
