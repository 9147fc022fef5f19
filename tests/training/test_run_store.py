"""Runs on an object store: the same files as on a disk, found again from anywhere."""

import json
import subprocess
import sys
import threading
import time

import lightning as L
import pytest
import torch

import forked
from counterpoint import ArraySource, Run, Training, pretrain
from counterpoint.data.stores.retry import StoreFailure
from counterpoint.folder_lock import LockedError
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.training.run_store import store_lock
from counterpoint.training.run_store.object_place import ObjectPlace
from counterpoint.training.run_store.run_address import address_of, working_folder
from counterpoint.training.run_store.store_lock import StoreLock, TakenOverError, only_writer_there
from stores_server.faults import Faults

METHOD = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)), size=32)
HOW = {"save_seconds": 0, "health": False, "accelerator": "cpu"}
SAME = ("metrics.csv", "receipts.jsonl", "method.json", "model.safetensors")


@pytest.fixture(scope="module")
def images(cifar):
    return ArraySource("cifar10", cifar.train.images[:64])


@pytest.fixture(scope="module")
def quiet(images, tmp_path_factory):
    """The same run on a disk."""
    out = tmp_path_factory.mktemp("quiet") / "run"
    return pretrain(METHOD, images, out=out, training=Training(batch=16, epochs=2), **HOW)


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    """An empty cache, as on a machine that has never seen the run."""
    monkeypatch.setenv("COUNTERPOINT_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def trained(images, out, *, epochs=2, **more):
    training = Training(batch=16, epochs=epochs)
    return pretrain(METHOD, images, out=out, training=training, **{**HOW, **more})


def test_a_run_in_a_store_has_the_files_of_one_on_a_disk(s3, quiet, images, tmp_path, monkeypatch):
    run = trained(images, s3.address("whole/run"))
    assert run.folder.name == "run"
    assert address_of(run.folder) == s3.address("whole/run")
    assert s3.address("whole/run") in repr(run)
    keys = {key.removeprefix("whole/run/") for key in s3.keys("whole/")}
    on_disk = {
        p.relative_to(quiet.folder).as_posix() for p in quiet.folder.rglob("*") if p.is_file()
    }
    assert keys == {*on_disk, "store.json"} - {"run.lock", "checkpoints/.lock"}
    for name in SAME:
        assert s3.get(f"whole/run/{name}") == (quiet.folder / name).read_bytes(), name
    for file in quiet.folder.glob("checkpoints/step-*/*"):
        name = file.relative_to(quiet.folder).as_posix()
        assert s3.get(f"whole/run/{name}") == file.read_bytes(), name
    with pytest.raises(ValueError, match=r"s3://bucket/whole/run already holds a run, at step-0"):
        trained(images, s3.address("whole/run"))
    monkeypatch.setenv("COUNTERPOINT_RUNS", str(tmp_path / "elsewhere"))
    again = trained(images, s3.address("whole/run"), resume="auto")  # nothing is left to do
    opened = Run.open(s3.address("whole/run"))
    for key, value in quiet.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[key], value)
        assert torch.equal(opened.model.state_dict()[key], value)


def test_a_store_that_fails_gives_the_same_run_and_a_log(s3, quiet, images, tmp_path, capfd):
    s3.break_it(Faults(seed=3, errors=0.05, resets=0.02, truncated=0.02, stalls=0.01, first=4))
    trained(images, s3.address("faulty/run"))
    counts = s3.counts()
    s3.break_it()
    assert sum(n for what, n in counts.items() if what.startswith(("error", "reset", "tr"))) > 3
    for name in SAME:
        assert s3.get(f"faulty/run/{name}") == (quiet.folder / name).read_bytes(), name
    assert "store   " in capfd.readouterr().err


def test_a_store_that_is_down_does_not_stop_a_run_until_its_end(
    s3, images, quiet, monkeypatch, capfd
):
    monkeypatch.setenv("COUNTERPOINT_STORE_PATIENCE", "2")
    address = s3.address("down/run")

    class Down(L.Callback):
        def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
            if trainer.global_step == 3:
                s3.down(600)

    with pytest.raises(StoreFailure, match="does not have the end of this run") as failed:
        trained(images, address, callbacks=[Down()])
    folder = working_folder(address)
    assert str(folder) in str(failed.value)
    assert "training continues" in capfd.readouterr().err
    assert (folder / "metrics.csv").read_bytes() == (quiet.folder / "metrics.csv").read_bytes()
    s3.down(0)
    assert "down/run/run.json" not in s3.keys("down/")
    trained(images, address, resume="auto")  # the same command brings it there
    for name in SAME:
        assert s3.get(f"down/run/{name}") == (quiet.folder / name).read_bytes(), name
    assert json.loads(s3.get("down/run/run.json"))["steps"] == 8


def test_a_run_that_was_deleted_in_the_store_begins_anew(s3, images, runs, capfd):
    address = s3.address("deleted/run")
    trained(images, address, epochs=1)
    for key in s3.keys("deleted/"):
        s3.delete(key)
    trained(images, address, resume="auto")
    assert "is another run than that of" in capfd.readouterr().err
    assert len([*runs.glob("*/aside-*/run/checkpoints/step-*")]) == 2
    assert json.loads(s3.get("deleted/run/run.json"))["steps"] == 8


def test_a_second_run_is_refused_and_a_dead_one_is_in_nobodys_way(s3, images, tmp_path):
    address = s3.address("locked/run")
    hold = (
        "import sys, time\n"
        "from counterpoint.training.run_store.object_place import ObjectPlace\n"
        "from counterpoint.training.run_store.store_lock import only_writer_there\n"
        "with only_writer_there(ObjectPlace(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(600)\n"
    )
    holder = forked.Popen([sys.executable, "-c", hold, address], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        began = time.monotonic()
        with pytest.raises(LockedError, match=rf"process {holder.pid} on .*kill {holder.pid}"):
            trained(images, address)
        assert time.monotonic() - began < 2 * store_lock.RENEWED + 5
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert "locked/run/run.lock" in s3.keys("locked/")
    began = time.monotonic()
    trained(images, address, epochs=1)  # its process is gone
    assert time.monotonic() - began < store_lock.STALE / 2
    assert "locked/run/run.lock" not in s3.keys("locked/")


def test_a_holder_elsewhere_is_dead_when_it_gave_no_sign_for_a_while(s3, monkeypatch):
    place = ObjectPlace(s3.address("stale/run"))
    other = {"host": "elsewhere", "pid": 7, "machine": "another", "token": "x", "since": "noon"}
    s3.put("stale/run/run.lock", json.dumps(other).encode())
    monkeypatch.setattr(store_lock, "STALE", 3.0)
    began = time.monotonic()
    with only_writer_there(place) as lock:
        assert time.monotonic() - began > 1.5
        lock.check()
        s3.put("stale/run/run.lock", json.dumps(other).encode())  # it was only asleep
        with pytest.raises(TakenOverError, match="taken over by process 7 on elsewhere"):
            lock.check()
    assert json.loads(s3.get("stale/run/run.lock"))["token"] == "x"  # not ours to delete


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("s4://bucket/run", "s4:// is not known to fsspec"),
        ("s3://no-such-bucket/run", "there is no bucket no-such-bucket"),
        ("file:///tmp/run", "write the path alone: /tmp/run"),
        ("https://127.0.0.1/run", "cannot be listed and written"),
    ],
)
def test_what_cannot_hold_a_run_is_refused_before_anything_is_read(s3, out, words):
    class NotReached:
        def __len__(self):
            raise AssertionError("the data was looked at")

    with pytest.raises(ValueError, match=words):
        pretrain(METHOD, NotReached(), out=out)


def test_a_bucket_that_may_not_be_written_to_is_refused(s3, images):
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:PutObject",
                "Resource": "arn:aws:s3:::read-only/*",
            }
        ],
    }
    s3.direct.create_bucket(Bucket="read-only")
    s3.direct.put_bucket_policy(Bucket="read-only", Policy=json.dumps(policy))
    with pytest.raises(ValueError, match="may not be written to"):
        trained(images, "s3://read-only/run")


def test_a_sign_of_life_that_is_on_its_way_is_waited_for(s3, monkeypatch):
    """Else it arrives after the lock was deleted, and the next run is refused."""
    place, sent, write = ObjectPlace(s3.address("late/run")), threading.Event(), StoreLock.write

    def slow(lock):
        if threading.current_thread() is not threading.main_thread():
            sent.set()
            time.sleep(1)
        write(lock)

    monkeypatch.setattr(store_lock, "RENEWED", 0.05)
    monkeypatch.setattr(StoreLock, "write", slow)
    with only_writer_there(place):
        assert sent.wait(20)
    time.sleep(1.5)
    assert store_lock.read_lock(place) == {}
